#include "workflows/optimize/output_check.h"

#include "graph/constant_values.h"
#include "workflows/ab/worker_outputs.h"

namespace aaco::workflows {
namespace {

using analytics::agreement::AgreementAccount;
using graph::ElementType;

constexpr std::int64_t kOutputTimeoutNs = 120'000'000'000;
constexpr std::uint64_t kFirstCheckSeed = 1001;  // not the seed that is timed

core::Result<std::vector<double>> numbers_of(const runner::TensorData& tensor) {
  if (auto numbers = graph::numbers_of(tensor.bytes, tensor.type)) return *std::move(numbers);
  return core::fail(core::ErrorCode::unsupported,
                    "outputs of type " + std::string(to_string(tensor.type)) + " cannot be compared");
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
