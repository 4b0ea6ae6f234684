#include "workflows/run_config.h"

#include <algorithm>
#include <climits>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "core/yaml.h"
#include "graph/rewrite.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;

tl::unexpected<core::Error> invalid_option(std::string_view key, const std::string& value, std::string_view expected) {
  return core::fail(ErrorCode::invalid_argument,
                    "invalid value '" + value + "' for '" + std::string(key) + "': expected " + std::string(expected));
}

core::Result<std::int64_t> option_count(std::string_view key, const std::string& value) {
  const auto count = core::parse_i64(value);
  if (!count || *count < 1 || *count > INT_MAX) return invalid_option(key, value, "a count of at least 1");
  return *count;
}

core::Result<std::vector<std::int64_t>> option_shape(std::string_view key, const std::string& value) {
  std::vector<std::int64_t> shape;
  for (const std::string_view part : core::split(value, 'x')) {
    const auto size = core::parse_i64(part);
    if (!size || *size < 0) return invalid_option(key, value, "a shape such as 1x3x224x224");
    shape.push_back(*size);
  }
  return shape;
}

core::Status set_named(RunRequest& request, std::string_view group, const std::string& name, const std::string& value) {
  if (group == "provider_options") {
    request.provider_options[name] = value;
  } else if (group == "session_options") {
    request.session_options[name] = value;
  } else if (group == "inputs") {
    request.inputs[name] = value;
  } else if (group == "dimensions") {
    AACO_ASSIGN(request.dimensions[name], option_count(name, value));
  } else if (group == "shapes") {
    AACO_ASSIGN(request.shapes[name], option_shape(name, value));
  } else {
    return core::fail(ErrorCode::invalid_argument, "unknown key '" + std::string(group) + "'");
  }
  return {};
}

core::Status add_rewrite(RunRequest& request, const std::string& pass) {
  std::vector<std::string> known{std::string(kOfflineRewrite)};
  for (const auto& one : graph::rewrite::passes()) known.emplace_back(one.id);
  if (std::find(known.begin(), known.end(), pass) == known.end())
    return core::fail(ErrorCode::invalid_argument, "unknown rewrite '" + pass + "'", "rewrites: " + core::join(known, ", "));
  request.rewrites.push_back(pass);
  return {};
}

core::Status set_text_option(RunRequest& request, std::string_view key, const std::string& value) {
  if (key == "model")
    request.model = value;
  else if (key == "backend")
    request.backend = value;
  else if (key == "ort_library")
    request.ort_library = value;
  else if (key == "dtype")
    request.dtype = value;
  else if (key == "rewrite")
    return add_rewrite(request, value);
  else
    return core::fail(
        ErrorCode::invalid_argument, "unknown key '" + std::string(key) + "'",
        "keys: model, backend, batch, threads, graph_level, dtype, seed, ort_library, allow_fallback, rewrite, dimensions, "
        "shapes, inputs, provider_options, session_options");
  return {};
}

bool is_group(std::string_view key) {
  return key == "provider_options" || key == "session_options" || key == "inputs" || key == "dimensions" || key == "shapes";
}

std::string beside(const std::string& config, const std::string& value) {
  if (value.empty() || value.front() == '/') return value;
  const std::string path = core::join_path(core::parent_path(core::absolute_path(config)), value);
  return core::exists(path) ? path : value;  // a name of models.yaml stays a name
}

// Quoted, so that any text is read back as it is.
std::string yaml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

template <class Map, class ToText>
std::string yaml_group(const char* name, const Map& map, ToText to_text) {
  if (map.empty()) return {};
  std::string out = std::string(name) + ":\n";
  for (const auto& [key, value] : map) out += "  " + yaml_text(key) + ": " + to_text(value) + "\n";
  return out;
}

std::string shape_words(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text.append(text.empty() ? "" : "x").append(std::to_string(size));
  return yaml_text(text);
}

}  // namespace

core::Status set_run_option(RunRequest& request, std::string_view key, const std::string& value) {
  if (const auto dot = key.find('.'); dot != std::string_view::npos && is_group(key.substr(0, dot)))
    return set_named(request, key.substr(0, dot), std::string(key.substr(dot + 1)), value);
  if (key == "batch") {
    AACO_ASSIGN(request.batch, option_count(key, value));
  } else if (key == "threads") {
    AACO_ASSIGN(const std::int64_t threads, option_count(key, value));
    request.threads = static_cast<int>(threads);
  } else if (key == "seed") {
    const auto seed = core::parse_u64(value);
    if (!seed) return invalid_option(key, value, "a whole number");
    request.seed = *seed;
  } else if (key == "allow_fallback") {
    if (value != "true" && value != "false") return invalid_option(key, value, "true or false");
    request.allow_fallback = value == "true";
  } else if (key == "graph_level") {
    if (value != "disabled" && value != "basic" && value != "extended" && value != "all")
      return invalid_option(key, value, "disabled, basic, extended or all");
    request.graph_level = value;
  } else {
    return set_text_option(request, key, value);
  }
  return {};
}

core::Status read_run_config(const std::string& path, RunRequest& request) {
  AACO_ASSIGN(const core::YamlNode root, core::YamlNode::load(path));
  if (!root.is_mapping()) return root.error("expected a mapping of run options");
  const auto set = [&](const core::YamlNode& at, const std::string& key, const std::string& value) -> core::Status {
    const bool is_file = key == "model" || key == "ort_library" || key.starts_with("inputs.");
    if (auto done = set_run_option(request, key, is_file ? beside(path, value) : value); !done)
      return tl::unexpected<core::Error>(std::move(done).error().with(at.where()));
    return {};
  };
  for (const auto& [key, value] : root.entries()) {
    if (!is_group(key.scalar())) {
      AACO_ASSIGN(const std::string text, value.as_string());
      AACO_TRY(set(key, key.scalar(), text));
      continue;
    }
    if (!value.is_mapping()) return value.error("'" + key.scalar() + "' must be a mapping");
    for (const auto& [name, inner] : value.entries()) {
      AACO_ASSIGN(const std::string text, inner.as_string());
      AACO_TRY(set(name, key.scalar() + "." + name.scalar(), text));
    }
  }
  return {};
}

std::string run_config_text(const RunRequest& request) {
  std::string out = "model: " + yaml_text(request.model) + "\nbackend: " + yaml_text(request.backend) + "\n";
  if (request.batch) out += "batch: " + std::to_string(*request.batch) + "\n";
  if (request.threads) out += "threads: " + std::to_string(*request.threads) + "\n";
  out += "graph_level: " + request.graph_level + "\n";
  if (!request.dtype.empty()) out += "dtype: " + yaml_text(request.dtype) + "\n";
  if (request.seed != RunRequest().seed) out += "seed: " + std::to_string(request.seed) + "\n";
  if (!request.ort_library.empty()) out += "ort_library: " + yaml_text(request.ort_library) + "\n";
  if (request.allow_fallback) out += "allow_fallback: true\n";
  out += yaml_group("dimensions", request.dimensions, [](std::int64_t size) { return std::to_string(size); });
  out += yaml_group("shapes", request.shapes, shape_words);
  out += yaml_group("inputs", request.inputs, yaml_text);
  out += yaml_group("provider_options", request.provider_options, yaml_text);
  return out + yaml_group("session_options", request.session_options, yaml_text);
}

}  // namespace aaco::workflows
