#include <cstring>

#include "core/files.h"
#include "core/numbers.h"
#include "core/random.h"
#include "core/strings.h"
#include "workflows/prepare.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

// Bytes the kernel says may still be used; empty where it does not say.
std::optional<std::int64_t> available_memory() {
  const auto text = core::read_file("/proc/meminfo");
  if (!text) return std::nullopt;
  for (std::string_view line : core::split_lines(*text))
    if (line.starts_with("MemAvailable:")) {
      const auto words = core::split_words(line);
      if (words.size() > 1)
        if (const auto kib = core::parse_i64(words[1])) return *kib * 1024;
    }
  return std::nullopt;
}

core::Status check_memory(const RunPlan& plan) {
  const auto available = available_memory();
  if (!available || plan.model_bytes < *available) return {};
  return core::fail(ErrorCode::exhausted,
                    plan.model_name + " has " + core::format_bytes(static_cast<double>(plan.model_bytes)) + " of weights, and " +
                        core::format_bytes(static_cast<double>(*available)) + " of memory are free here",
                    "take a smaller model, or free memory");
}

std::string shape_text(const std::vector<runner::TensorData>& inputs) {
  std::string text;
  for (const auto& input : inputs) {
    std::vector<std::string> sizes;
    for (std::int64_t size : input.shape) sizes.push_back(std::to_string(size));
    text +=
        (text.empty() ? "" : "; ") + input.name + " " + std::string(to_string(input.type)) + "[" + core::join(sizes, ",") + "]";
  }
  return text;
}

core::Result<std::vector<runner::TensorData>> random_inputs(const std::vector<runner::TensorInfo>& infos,
                                                            const RunRequest& request) {
  std::vector<runner::TensorData> inputs;
  core::Random random(request.seed);
  for (const auto& info : infos) {
    if (info.type != runner::ElementType::float32)
      return core::fail(ErrorCode::unsupported, "the input '" + info.name + "' is of type " + std::string(to_string(info.type)) +
                                                    ", made inputs are float32 so far");
    runner::TensorData tensor{info.name, info.type, info.shape, {}};
    std::int64_t count = 1;
    for (auto& size : tensor.shape) {
      if (size < 0) size = request.batch.value_or(1);
      count *= size;
    }
    std::vector<float> values(static_cast<std::size_t>(count));
    for (auto& value : values) value = static_cast<float>(random.uniform());
    tensor.bytes.resize(values.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace

core::Result<LoadedModel> load_model(const RunPlan& plan, const RunRequest& request, const Services& services) {
  AACO_TRY(check_memory(plan));
  LoadedModel model;
  AACO_ASSIGN(model.runtime, runner::ort::Runtime::open({request.ort_library, services.environment, services.paths}));
  AACO_ASSIGN(model.backend, model.runtime->open_model(plan.model_path, plan.backend));
  AACO_ASSIGN(auto inputs, random_inputs(model.backend->inputs(), request));
  model.batch = request.batch.value_or(1);
  model.shapes_text = shape_text(inputs);
  AACO_TRY(model.backend->bind(inputs));
  return model;
}

}  // namespace aaco::workflows
