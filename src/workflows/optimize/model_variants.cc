#include "workflows/optimize/model_variants.h"

#include <algorithm>

#include "core/files.h"
#include "core/strings.h"
#include "graph/rewrite.h"
#include "workflows/optimize/trial_process.h"
#include "workflows/run_config.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kOfflineTimeoutNs = 600'000'000'000;
// Level of the graph that is kept: later levels choose layouts for the machine that writes it.
constexpr const char* kOfflineLevel = "extended";

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
    AACO_TRY(graph::rewrite::rewrite_model(model_path_, passes, source.run_file));
  }
  if (offline) AACO_TRY(write_offline(source, path));
  return core::absolute_path(path);
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
