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

core::Result<ElementType> read_dtype(const YamlNode& node) {
  AACO_ASSIGN(const std::string text, node.as_string());
  const auto type = graph::element_type_from_string(text);
  for (const ElementType known : {ElementType::float32, ElementType::float16, ElementType::bfloat16, ElementType::float64})
    if (type == known) return known;
  return node.error("'" + text + "' is not a floating-point type", "use float32, float16, bfloat16 or float64");
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
  constexpr std::array<std::string_view, 5> kOwnKeys = {"provider", "device_id", "fp16_enable", "intra_op_threads",
                                                        "inter_op_threads"};
  for (const auto& [key, value] : entry.entries()) {
    if (std::find(kOwnKeys.begin(), kOwnKeys.end(), key.scalar()) != kOwnKeys.end()) continue;
    AACO_ASSIGN(backend.options[key.scalar()], value.as_string());
  }
  return {};
}

template <class Config>
core::Status read_file_entries(const std::string& path, std::map<std::string, Config>& out) {
  AACO_ASSIGN(const YamlNode document, YamlNode::load(path));
  if (document.is_null()) return {};
  if (!document.is_mapping())
    return document.error("the file must map names to entries", "write NAME: with its keys indented below");
  for (const auto& [name, entry] : document.entries()) {
    if (!entry.is_mapping()) return entry.error("'" + name.scalar() + "' has no keys", "indent the keys below the name");
    Config& config = out[name.scalar()];
    config.name = name.scalar();
    config.where = name.where();
    AACO_TRY(read_entry(entry, path, config));
  }
  return {};
}

tl::unexpected<core::Error> missing(const std::string& where, const std::string& name, std::string_view key) {
  return fail(ErrorCode::invalid_input, where + ": '" + name + "' has no " + std::string(key), "add the key " + std::string(key));
}

}  // namespace

core::Status read_entries(const std::string& path, std::map<std::string, ModelConfig>& out) {
  return read_file_entries(path, out);
}
core::Status read_entries(const std::string& path, std::map<std::string, BackendConfig>& out) {
  return read_file_entries(path, out);
}

core::Status check_complete(const std::map<std::string, ModelConfig>& models) {
  for (const auto& [name, model] : models)
    if (model.path.empty()) return missing(model.where, name, "path");
  return {};
}

core::Status check_complete(const std::map<std::string, BackendConfig>& backends) {
  for (const auto& [name, backend] : backends)
    if (backend.provider.empty()) return missing(backend.where, name, "provider");
  return {};
}

}  // namespace aaco::runner
