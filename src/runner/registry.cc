#include "runner/registry.h"

#include <algorithm>
#include <filesystem>

#include "core/files.h"
#include "core/strings.h"
#include "graph/graph.h"
#include "runner/registry_schema.h"
#include "runner/zoo.h"

namespace aaco::runner {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::string_view kModelsFile = "models.yaml";
constexpr std::string_view kBackendsFile = "backends.yaml";

// Reads the program's file and, where there is one, the user's on top of it.
template <class Config>
core::Status load_layers(const core::Paths& paths, std::string_view file, std::map<std::string, Config>& out) {
  AACO_TRY(read_entries(core::join_path(core::join_path(paths.share, "configs"), file), out));
  const std::string own = core::join_path(paths.config, file);
  return core::exists(own) ? read_entries(own, out) : core::Status{};
}

template <class Config>
std::string known_names(const std::map<std::string, Config>& entries, std::string_view wanted) {
  std::vector<std::string_view> names;
  for (const auto& [name, config] : entries) names.emplace_back(name);
  const std::string_view near = core::nearest(wanted, names);
  return (near.empty() ? "" : "did you mean " + std::string(near) + "? ") + "known: " + core::join(names, ", ");
}

template <class Config>
core::Result<Config> usable(const Config& config) {
  if (config.problem) return tl::unexpected<core::Error>(*config.problem);
  return config;
}

bool looks_like_a_file(std::string_view text) { return text.find('/') != std::string_view::npos || text.ends_with(".onnx"); }

}  // namespace

std::string ModelConfig::zoo_request() const {
  std::string request = path.substr(kZooPrefix.size());
  if (dtype && request.find("dtype=") == std::string::npos) request += ",dtype=" + std::string(to_string(*dtype));
  return request;
}

core::Result<Registry> Registry::load(const core::Paths& paths) {
  Registry registry;
  AACO_TRY(load_layers(paths, kModelsFile, registry.models_));
  AACO_TRY(load_layers(paths, kBackendsFile, registry.backends_));
  check_complete(registry.models_);
  check_complete(registry.backends_);
  return registry;
}

core::Result<ModelConfig> Registry::model(std::string_view name_or_file) const {
  if (const auto found = models_.find(std::string(name_or_file)); found != models_.end()) return usable(found->second);
  ModelConfig config;
  config.name = std::string(name_or_file);
  if (name_or_file.starts_with(ModelConfig::kZooPrefix)) {
    config.path = std::string(name_or_file);
    return config;
  }
  if (zoo::find(name_or_file)) {
    config.path = std::string(ModelConfig::kZooPrefix) + std::string(name_or_file);
    return config;
  }
  const std::string path(name_or_file);
  if (core::is_directory(path)) return fail(ErrorCode::invalid_argument, path + " is a folder", "pass the .onnx file in it");
  if (core::exists(path)) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      return fail(ErrorCode::invalid_argument, path + " is not a regular file, but a model is read more than once",
                  "write it to a file first");
    config.name = core::base_name(path);
    config.path = core::absolute_path(path);
    return config;
  }
  if (looks_like_a_file(name_or_file)) return fail(ErrorCode::not_found, "no such file: " + path, "check the path");
  return fail(ErrorCode::not_found, "no model '" + path + "' in models.yaml, and no such file",
              known_names(models_, name_or_file));
}

core::Result<BackendConfig> Registry::backend(std::string_view name) const {
  if (const auto found = backends_.find(std::string(name)); found != backends_.end()) return usable(found->second);
  for (const auto& [key, config] : backends_)
    if (config.provider == name && !config.problem) return config;
  return fail(ErrorCode::not_found, "no backend '" + std::string(name) + "' in backends.yaml", known_names(backends_, name));
}

core::Status check_dtype(const ModelConfig& config, const graph::Graph& graph) {
  if (!config.dtype) return {};
  std::map<ElementType, std::int64_t> elements;
  for (const graph::Initializer& initializer : graph.initializers) {
    const graph::TensorDescriptor& tensor = graph.tensor(initializer.tensor);
    if (graph::is_floating(tensor.type) && tensor.shape) elements[tensor.type] += graph::element_count(*tensor.shape).value_or(0);
  }
  const auto most =
      std::max_element(elements.begin(), elements.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == elements.end() || most->first == *config.dtype) return {};
  return fail(ErrorCode::invalid_input,
              config.where + ": '" + config.name + "' is declared as " + std::string(to_string(*config.dtype)) +
                  ", but its weights are " + std::string(to_string(most->first)),
              "fix dtype or the path");
}

}  // namespace aaco::runner
