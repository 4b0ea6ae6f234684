#include "workflows/optimize/model_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/files.h"
#include "core/strings.h"
#include "workflows/ab/worker_outputs.h"
#include "workflows/optimize/trial_process.h"
#include "workflows/run_config.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kOfflineTimeoutNs = 600'000'000'000;
constexpr std::int64_t kRangesTimeoutNs = 600'000'000'000;
constexpr int kRangeInputs = 32;                 // generated ones; a given input counts besides
constexpr std::uint64_t kFirstRangeSeed = 5000;  // not the seeds on which outputs are compared
// Level of the graph that is kept: later levels choose layouts for the machine that writes it.
constexpr const char* kOfflineLevel = "extended";

core::Result<float> scalar_of(const runner::TensorData& tensor) {
  float value = 0;
  if (tensor.type != graph::ElementType::float32 || tensor.bytes.size() != sizeof(value))
    return core::fail(core::ErrorCode::invalid_input, "the range '" + tensor.name + "' is not one number");
  std::memcpy(&value, tensor.bytes.data(), sizeof(value));
  return value;
}

// `outputs`: those of a model of write_range_model().
core::Status widen(graph::rewrite::ActivationRanges& ranges, const std::vector<std::string>& names,
                   const std::vector<runner::TensorData>& outputs) {
  if (outputs.size() != 2 * names.size())
    return core::fail(core::ErrorCode::invalid_input, "the model of ranges has an unexpected number of outputs");
  for (std::size_t i = 0; i < names.size(); ++i) {
    AACO_ASSIGN(const float lowest, scalar_of(outputs[2 * i]));
    AACO_ASSIGN(const float highest, scalar_of(outputs[2 * i + 1]));
    auto [range, added] = ranges.try_emplace(names[i], graph::rewrite::ValueRange{lowest, highest});
    if (added) continue;
    range->second.lowest = std::min(range->second.lowest, lowest);
    range->second.highest = std::max(range->second.highest, highest);
  }
  return {};
}

}  // namespace

bool changes_precision(const RunRequest& configuration) {
  return std::any_of(configuration.rewrites.begin(), configuration.rewrites.end(), [](const std::string& id) {
    const auto* pass = graph::rewrite::find_pass(id);
    return pass != nullptr && !pass->exact;
  });
}

core::Result<RunRequest> ModelVariants::resolve(const RunRequest& configuration) {
  if (configuration.rewrites.empty()) return configuration;
  const std::string key = core::join(configuration.rewrites, "_");
  auto known = made_.find(key);
  if (known == made_.end()) known = made_.emplace(key, rewritten(configuration)).first;
  if (!known->second) return tl::unexpected<core::Error>(known->second.error());
  RunRequest resolved = configuration;
  resolved.rewrites.clear();
  resolved.run_file = *known->second;
  return resolved;
}

core::Result<std::string> ModelVariants::rewritten(const RunRequest& configuration) {
  const std::string models = core::join_path(folder_, "models");
  AACO_TRY(core::make_directories(models));
  std::vector<std::string> passes = configuration.rewrites;
  const bool offline = std::erase(passes, std::string(kOfflineRewrite)) > 0;
  RunRequest source = configuration;
  source.rewrites.clear();
  std::string path = core::join_path(models, core::join(configuration.rewrites, "_") + ".onnx");
  if (!passes.empty()) {
    services_->progress("rewriting the model: " + core::join(passes, ", "));
    source.run_file = offline ? core::join_path(models, core::join(passes, "_") + ".onnx") : path;
    graph::rewrite::ActivationRanges ranges;
    if (std::any_of(passes.begin(), passes.end(), graph::rewrite::requires_ranges)) {
      AACO_ASSIGN(ranges, measured_ranges(configuration));
    }
    AACO_TRY(graph::rewrite::rewrite_model(model_path_, passes, source.run_file, ranges));
  }
  if (offline) AACO_TRY(write_offline(source, path));
  return core::absolute_path(path);
}

core::Result<graph::rewrite::ActivationRanges> ModelVariants::measured_ranges(const RunRequest& configuration) const {
  AACO_ASSIGN(const core::TemporaryDirectory scratch, core::TemporaryDirectory::make(folder_, ".ranges"));
  RunRequest request = configuration;
  request.rewrites.clear();
  request.run_file = core::join_path(scratch.path(), "ranges.onnx");
  services_->progress(fmt::format("measuring the ranges of activations on {} inputs", kRangeInputs));
  AACO_ASSIGN(const auto names, graph::rewrite::write_range_model(model_path_, request.run_file));
  AACO_ASSIGN(TrialProcess process, TrialProcess::start(worker_, request, 0, *services_, kRangesTimeoutNs));
  graph::rewrite::ActivationRanges ranges;
  const std::string file = core::join_path(scratch.path(), "outputs");
  for (int i = configuration.inputs.empty() ? 1 : 0; i <= kRangeInputs; ++i) {
    const std::uint64_t seed = i == 0 ? 0 : kFirstRangeSeed + static_cast<std::uint64_t>(i);
    AACO_TRY(process.write_outputs(seed, file, kRangesTimeoutNs));
    AACO_ASSIGN(const auto outputs, read_model_outputs(file));
    AACO_TRY(widen(ranges, names, outputs));
  }
  return ranges;
}

core::Status ModelVariants::write_offline(const RunRequest& configuration, const std::string& path) const {
  services_->progress("writing ONNX Runtime's optimized graph");
  RunRequest request = configuration;
  request.graph_level = kOfflineLevel;
  request.optimized_file = path;
  AACO_ASSIGN(const TrialProcess process, TrialProcess::start(worker_, request, 0, *services_, kOfflineTimeoutNs));
  (void)process;
  if (core::exists(path)) return {};
  return core::fail(core::ErrorCode::io, "ONNX Runtime wrote no optimized graph to " + path);
}

}  // namespace aaco::workflows
