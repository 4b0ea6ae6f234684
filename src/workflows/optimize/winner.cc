#include "workflows/optimize/winner.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/files.h"
#include "hardware/usable_cpus.h"
#include "workflows/optimize/artifacts.h"
#include "workflows/run_config.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::int64_t kMaxCopiedBytes = std::int64_t{2} << 30;

// A copy in the folder, by whose name the files there refer to it; the path itself where the model is too large to copy.
core::Result<std::string> keep_model(const std::string& path, const std::string& name, bool must_copy,
                                     std::vector<std::string>& files, const std::string& folder) {
  const bool external = core::exists(path + ".data") || core::exists(path + "_data");
  AACO_ASSIGN(const std::int64_t bytes, core::file_size(path));
  if (!must_copy && (external || bytes > kMaxCopiedBytes)) return path;
  std::error_code error;
  const auto overwrite = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(path, core::join_path(folder, name), overwrite, error);
  if (!error && core::exists(path + ".data")) {
    // The model refers to its weights by the name they were written under.
    const std::string data = core::base_name(path) + ".data";
    std::filesystem::copy_file(path + ".data", core::join_path(folder, data), overwrite, error);
    files.push_back(data);
  }
  if (error) return core::fail(core::ErrorCode::io, core::join_path(folder, name) + ": " + error.message());
  files.push_back(name);
  return name;
}

// "2;4": the CPU of each thread but the caller, as the runtime is told.
std::string pinned_cpus(const RunRequest& configuration) {
  const auto pinning = configuration.session_options.find("pinning");
  if (pinning == configuration.session_options.end() || pinning->second != "on" || !configuration.threads) return {};
  const auto cpus = hardware::usable_cpus().allowed;
  std::string text;
  for (std::size_t i = 1; i < std::min(static_cast<std::size_t>(*configuration.threads), cpus.size()); ++i)
    text += (i == 1 ? "" : ";") + std::to_string(cpus[i] + 1);
  return text;
}

// Both configurations with the shapes that were measured, and the inputs of the winner.
Json fix_shapes(const Winner& winner, RunRequest& baseline, RunRequest& best) {
  const std::int64_t old_batch = winner.described["batch"].as_i64().value_or(1);
  Json inputs = Json::array();
  for (const Json& input : winner.described["inputs"].items()) {
    const std::string name(input["name"].text());
    std::vector<std::int64_t> shape;
    for (const Json& size : input["shape"].items()) shape.push_back(size.as_i64().value_or(1));
    if (!baseline.inputs.contains(name)) baseline.shapes[name] = shape;
    if (winner.batch != old_batch && !shape.empty() && shape.front() == old_batch) shape.front() = winner.batch;
    Json sizes = Json::array();
    for (const std::int64_t size : shape) sizes.push(size);
    inputs.push(Json(input).set("shape", std::move(sizes)));
    if (!best.inputs.contains(name)) best.shapes[name] = shape;
  }
  return inputs;
}

}  // namespace

core::Status set_aside(const std::string& folder) {
  const auto result = core::read_json_file(core::join_path(folder, "result.json"));
  if (!result || !(*result)["proven"].as_bool().value_or(false)) return {};
  const std::string earlier = core::join_path(folder, "earlier");
  for (const char* name : {"best.yaml", "baseline.yaml", "run.py", "run.cc", "model.onnx", "model.onnx.data"}) {
    const std::string path = core::join_path(folder, name);
    if (!core::exists(path)) continue;
    AACO_TRY(core::make_directories(earlier));
    std::error_code error;
    std::filesystem::rename(path, core::join_path(earlier, name), error);
    if (error) return core::fail(core::ErrorCode::io, path + ": " + error.message(), "check permissions and free space");
  }
  return {};
}

core::Result<std::vector<std::string>> write_winner(const Winner& winner, const std::string& summary, const Services& services) {
  std::vector<std::string> files;
  const auto pattern = [&](const char* name) {
    return core::read_file(core::join_path(services.paths.share, std::string("data/optimize/") + name));
  };
  AACO_ASSIGN(const std::string python, pattern("run.py.in"));
  AACO_ASSIGN(const std::string cpp, pattern("run.cc.in"));
  const std::string& folder = winner.request.folder;
  RunRequest best = winner.configuration, baseline = winner.request.base;
  // The files are used from any folder.
  for (RunRequest* one : {&best, &baseline})
    for (auto& [name, path] : one->inputs) path = std::filesystem::absolute(path).lexically_normal().string();
  best.rewrites.clear();
  const bool rewritten = !winner.run_file.empty();
  AACO_ASSIGN(best.model,
              keep_model(rewritten ? winner.run_file : winner.plan.model_path, "model.onnx", rewritten, files, folder));
  baseline.model = best.model;
  if (rewritten) {
    AACO_ASSIGN(baseline.model, keep_model(winner.plan.model_path, "baseline.onnx", false, files, folder));
  }
  Deployment deployment{best, best.model, std::string(winner.described["provider"].text()), fix_shapes(winner, baseline, best),
                        pinned_cpus(best)};
  const std::string head = "# Written by 'aaco optimize'. Use: aaco run --config best.yaml\n# " + summary + "\n";
  const auto write = [&](const char* name, const std::string& text) {
    files.emplace_back(name);
    return core::write_file_atomic(core::join_path(folder, name), text);
  };
  AACO_TRY(write("best.yaml", head + run_config_text(best)));
  AACO_TRY(write("baseline.yaml", "# What best.yaml is compared with.\n" + run_config_text(baseline)));
  AACO_TRY(write("run.py", python_program(deployment, python)));
  AACO_TRY(write("run.cc", cpp_program(deployment, cpp)));
  return files;
}

}  // namespace aaco::workflows
