#include "runner/registry_schema.h"

#include <algorithm>
#include <array>

#include "core/files.h"
#include "core/yaml.h"
#include "graph/element_type.h"

namespace aaco::runner {
namespace {

using core::ErrorCode;
using core::fail;
using core::YamlNode;

constexpr std::int64_t kMaxThreads = 4096;
constexpr std::int64_t kMaxIterations = 1'000'000'000;
constexpr std::int64_t kMaxDimension = std::int64_t{1} << 40;

// An integer member in [minimum, maximum], into `target` where it is written.
core::Status read_count(const YamlNode& entry, std::string_view key, std::int64_t maximum, std::optional<std::int64_t>& target) {
  AACO_ASSIGN(const std::optional<std::int64_t> value, entry.optional_i64(key));
  if (!value) return {};
  if (*value < 0 || *value > maximum)
    return entry.find(key)->error(std::string(key) + " must be between 0 and " + std::to_string(maximum) + ", got " +
                                  std::to_string(*value));
  target = value;
  return {};
}

core::Result<std::vector<std::int64_t>> read_shape(const YamlNode& node) {
  if (!node.is_sequence()) return node.error("a shape must be a list of sizes", "for example [1, 3, 224, 224]");
  std::vector<std::int64_t> shape;
  for (const YamlNode& item : node.items()) {
    AACO_ASSIGN(const std::int64_t size, item.as_i64());
    if (size < 0 || size > kMaxDimension) return item.error("size " + std::to_string(size) + " is not a valid tensor size");
    shape.push_back(size);
  }
  return shape;
}

// Of the weights; empty for a type of indices, which says nothing of them.
core::Result<std::optional<ElementType>> read_dtype(const YamlNode& node) {
  AACO_ASSIGN(const std::string text, node.as_string());
  const auto type = graph::element_type_from_string(text);
  for (const ElementType known : {ElementType::float32, ElementType::float16, ElementType::bfloat16, ElementType::float64})
    if (type == known) return std::optional(known);
  for (const ElementType input : {ElementType::int64, ElementType::int32})
    if (type == input) return std::optional<ElementType>();
  return node.error("'" + text + "' is not a valid type",
                    "use float32, float16, bfloat16 or float64; int64 or int32 for inputs of indices");
}

core::Result<std::string> read_path(const YamlNode& node, const std::string& file) {
  AACO_ASSIGN(const std::string path, node.as_string());
  if (path.empty()) return node.error("the path is empty", "use the path of an .onnx file, or zoo:NAME");
  if (path.starts_with(ModelConfig::kZooPrefix) || path.front() == '/') return path;
  return core::absolute_path(core::join_path(core::parent_path(file), path));
}

core::Status read_entry(const YamlNode& entry, const std::string& file, ModelConfig& model) {
  AACO_TRY(entry.only_keys({"path", "input_shapes", "dtype", "warmup", "iterations"}));
  if (const YamlNode* path = entry.find("path")) {
    AACO_ASSIGN(model.path, read_path(*path, file));
  }
  if (const YamlNode* shapes = entry.find("input_shapes")) {
    if (!shapes->is_mapping())
      return shapes->error("input_shapes must map input names to shapes", "for example {input: [1, 3, 224, 224]}");
    model.input_shapes.clear();
    for (const auto& [name, shape] : shapes->entries()) {
      AACO_ASSIGN(model.input_shapes[name.scalar()], read_shape(shape));
    }
  }
  if (const YamlNode* dtype = entry.find("dtype")) {
    AACO_ASSIGN(model.dtype, read_dtype(*dtype));
  }
  AACO_TRY(read_count(entry, "warmup", kMaxIterations, model.warmup));
  return read_count(entry, "iterations", kMaxIterations, model.iterations);
}

core::Status read_entry(const YamlNode& entry, const std::string& /*file*/, BackendConfig& backend) {
  AACO_ASSIGN(const std::optional<std::string> provider, entry.optional_string("provider"));
  if (provider) backend.provider = *provider;
  AACO_TRY(read_count(entry, "device_id", kMaxThreads, backend.device_id));
  AACO_TRY(read_count(entry, "intra_op_threads", kMaxThreads, backend.intra_op_threads));
  AACO_TRY(read_count(entry, "inter_op_threads", kMaxThreads, backend.inter_op_threads));
  AACO_ASSIGN(const std::optional<bool> half, entry.optional_bool("fp16_enable"));
  if (half) backend.fp16_enable = half;
  AACO_ASSIGN(const std::optional<std::string> build, entry.optional_string("ort_build"));
  if (build && (build->empty() || build->find('/') != std::string::npos))
    return entry.find("ort_build")->error("'" + *build + "' is not a valid name of a build", "for example: providers");
  if (build) backend.ort_build = *build;
  constexpr std::array<std::string_view, 6> kOwnKeys = {"provider",         "device_id",        "fp16_enable",
                                                        "intra_op_threads", "inter_op_threads", "ort_build"};
  for (const auto& [key, value] : entry.entries()) {
    if (std::find(kOwnKeys.begin(), kOwnKeys.end(), key.scalar()) != kOwnKeys.end()) continue;
    AACO_ASSIGN(backend.options[key.scalar()], value.as_string());
  }
  return {};
}

// The entries of a file that has the key `models:` or `backends:` (or both) around them, or none. A model of that name has a
// path.
const YamlNode& unwrapped(const YamlNode& document, std::string_view wrapper) {
  const YamlNode* const inner = document.find(wrapper);
  const bool only_wrappers = std::all_of(document.entries().begin(), document.entries().end(), [](const auto& entry) {
    return entry.first.scalar() == "models" || entry.first.scalar() == "backends";
  });
  const bool wraps = inner != nullptr && inner->is_mapping() && only_wrappers && inner->find("path") == nullptr &&
                     inner->find("provider") == nullptr;
  return wraps ? *inner : document;
}

template <class Config>
core::Status read_file_entries(const std::string& path, std::string_view wrapper, std::map<std::string, Config>& out) {
  AACO_ASSIGN(const YamlNode document, YamlNode::load(path));
  if (document.is_null()) return {};
  const YamlNode& entries = unwrapped(document, wrapper);
  if (!entries.is_mapping())
    return entries.error("the file must map names to entries", "write NAME: with its keys indented below");
  for (const auto& [name, entry] : entries.entries()) {
    Config& config = out[name.scalar()];
    config.name = name.scalar();
    config.where = name.where();
    core::Status read = entry.is_mapping() ? read_entry(entry, path, config)
                                           : entry.error("'" + name.scalar() + "' has no keys", "indent the keys below the name");
    if (!read) config.problem = std::move(read.error());
  }
  return {};
}

template <class Config>
void mark_missing(Config& config, std::string_view key) {
  config.problem = core::Error{ErrorCode::invalid_input,
                               config.where + ": '" + config.name + "' has no " + std::string(key),
                               "add the key " + std::string(key),
                               {}};
}

}  // namespace

core::Status read_entries(const std::string& path, std::map<std::string, ModelConfig>& out) {
  return read_file_entries(path, "models", out);
}
core::Status read_entries(const std::string& path, std::map<std::string, BackendConfig>& out) {
  return read_file_entries(path, "backends", out);
}

void check_complete(std::map<std::string, ModelConfig>& models) {
  for (auto& [name, model] : models)
    if (model.path.empty() && !model.problem) mark_missing(model, "path");
}

void check_complete(std::map<std::string, BackendConfig>& backends) {
  for (auto& [name, backend] : backends)
    if (backend.provider.empty() && !backend.problem) mark_missing(backend, "provider");
}

}  // namespace aaco::runner
