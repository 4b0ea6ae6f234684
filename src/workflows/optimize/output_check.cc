#include "workflows/optimize/output_check.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "workflows/ab/worker_outputs.h"

namespace aaco::workflows {
namespace {

using analytics::agreement::AgreementAccount;
using graph::ElementType;

constexpr std::int64_t kOutputTimeoutNs = 120'000'000'000;
constexpr std::uint64_t kFirstCheckSeed = 1001;  // not the seed that is timed

template <class T>
std::vector<double> widened(const std::vector<std::byte>& bytes) {
  std::vector<double> out(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
  return out;
}

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

core::Result<std::vector<double>> numbers_of(const runner::TensorData& tensor) {
  switch (tensor.type) {
    case ElementType::float32: return widened<float>(tensor.bytes);
    case ElementType::float64: return widened<double>(tensor.bytes);
    case ElementType::int64: return widened<std::int64_t>(tensor.bytes);
    case ElementType::int32: return widened<std::int32_t>(tensor.bytes);
    case ElementType::int16: return widened<std::int16_t>(tensor.bytes);
    case ElementType::int8: return widened<std::int8_t>(tensor.bytes);
    case ElementType::uint64: return widened<std::uint64_t>(tensor.bytes);
    case ElementType::uint32: return widened<std::uint32_t>(tensor.bytes);
    case ElementType::uint16: return widened<std::uint16_t>(tensor.bytes);
    case ElementType::uint8:
    case ElementType::boolean: return widened<std::uint8_t>(tensor.bytes);
    case ElementType::float16:
    case ElementType::bfloat16: break;
    default:
      return core::fail(core::ErrorCode::unsupported,
                        "outputs of type " + std::string(to_string(tensor.type)) + " cannot be compared");
  }
  std::vector<double> out;
  for (std::size_t i = 0; i + 1 < tensor.bytes.size(); i += 2) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + i, 2);
    out.push_back(tensor.type == ElementType::float16 ? from_half(bits)
                                                      : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
  }
  return out;
}

core::Status compare_outputs(const std::vector<runner::TensorData>& reference, const std::vector<runner::TensorData>& candidate,
                             AgreementAccount& account) {
  if (reference.size() != candidate.size()) {
    account.mismatch("the number of outputs differs");
    return {};
  }
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (reference[i].shape != candidate[i].shape) {
      account.mismatch("the shape of output '" + reference[i].name + "' differs");
      return {};
    }
    AACO_ASSIGN(const auto a, numbers_of(reference[i]));
    AACO_ASSIGN(const auto b, numbers_of(candidate[i]));
    account.add(a, b, reference[i].shape.empty() ? 0 : reference[i].shape.back(), i == 0);
  }
  account.end_input();
  return {};
}

std::string reference_file(const std::string& folder, std::uint64_t seed) {
  return core::join_path(folder, "reference_" + std::to_string(seed));
}

// Of a model with random operators every configuration would be out of tolerance, and none would say why.
core::Status agrees_with_itself(TrialProcess& baseline, const OptimizeRequest& request, const std::string& folder,
                                std::uint64_t seed) {
  const std::string file = core::join_path(folder, "again");
  AACO_TRY(baseline.write_outputs(seed, file, kOutputTimeoutNs));
  AACO_ASSIGN(const auto first, read_model_outputs(reference_file(folder, seed)));
  AACO_ASSIGN(const auto again, read_model_outputs(file));
  AgreementAccount account;
  AACO_TRY(compare_outputs(first, again, account));
  const auto agreement = account.result();
  if (agreement.elements == 0) return {};
  if (const std::string why = violation(agreement, request.tolerance); !why.empty())
    return core::fail(core::ErrorCode::unsupported, "the model disagrees with itself on the same input: " + why,
                      "configurations of a model with random operators cannot be compared; give its random operators a seed");
  return {};
}

}  // namespace

core::Result<OutputCheck> OutputCheck::record(TrialProcess& baseline, const OptimizeRequest& request, const std::string& folder) {
  AACO_ASSIGN(core::TemporaryDirectory scratch, core::TemporaryDirectory::make(folder, ".outputs"));
  std::vector<std::uint64_t> seeds;
  if (!request.base.inputs.empty()) seeds.push_back(0);
  for (std::int64_t i = 0; i < request.check_inputs; ++i) seeds.push_back(kFirstCheckSeed + static_cast<std::uint64_t>(i));
  for (const std::uint64_t seed : seeds)
    AACO_TRY(baseline.write_outputs(seed, reference_file(scratch.path(), seed), kOutputTimeoutNs));
  if (!seeds.empty()) AACO_TRY(agrees_with_itself(baseline, request, scratch.path(), seeds.front()));
  return OutputCheck(std::move(scratch), std::move(seeds));
}

core::Result<analytics::agreement::Agreement> OutputCheck::compare(TrialProcess& candidate) {
  AgreementAccount account;
  const std::string file = core::join_path(folder_.path(), "candidate");
  for (const std::uint64_t seed : seeds_) {
    AACO_TRY(candidate.write_outputs(seed, file, kOutputTimeoutNs));
    AACO_ASSIGN(const auto reference, read_model_outputs(reference_file(folder_.path(), seed)));
    AACO_ASSIGN(const auto outputs, read_model_outputs(file));
    AACO_TRY(compare_outputs(reference, outputs, account));
  }
  return account.result();
}

}  // namespace aaco::workflows
