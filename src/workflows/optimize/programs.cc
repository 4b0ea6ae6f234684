#include <fmt/format.h>

#include "core/json.h"
#include "workflows/optimize/artifacts.h"

// run.py and run.cc of a search: the same session options, written for ONNX Runtime's Python package and its C API.
namespace aaco::workflows {
namespace {

using core::Json;

std::string source_text(std::string_view text) { return Json(text).dump(-1); }  // valid in Python and C++ alike

// Session options of the runtime itself, without those that have a call of their own.
std::map<std::string, std::string> config_entries(const Deployment& deployment) {
  std::map<std::string, std::string> entries;
  for (const auto& [name, value] : deployment.configuration.session_options)
    if (name.find('.') != std::string::npos) entries[name] = value;
  if (!deployment.affinities.empty()) entries["session.intra_op_thread_affinities"] = deployment.affinities;
  return entries;
}

std::string setting(const Deployment& deployment, const std::string& name, const std::string& otherwise) {
  const auto found = deployment.configuration.session_options.find(name);
  return found == deployment.configuration.session_options.end() ? otherwise : found->second;
}

std::string level_name(const Deployment& deployment, std::string_view prefix) {
  const std::string& level = deployment.configuration.graph_level;
  const std::string upper = level == "disabled"   ? "DISABLE_ALL"
                            : level == "basic"    ? "ENABLE_BASIC"
                            : level == "extended" ? "ENABLE_EXTENDED"
                                                  : "ENABLE_ALL";
  return std::string(prefix) + upper;
}

std::string python_type(std::string_view type) { return type == "boolean" || type == "bool" ? "bool" : std::string(type); }

std::string sizes_text(const Json& shape) {
  std::string text;
  for (const Json& size : shape.items()) text += (text.empty() ? "" : ", ") + std::to_string(size.as_i64().value_or(1));
  return text;
}

struct CppType {
  std::string_view name, onnx;
  int bytes;
};
constexpr CppType kCppTypes[] = {{"float32", "FLOAT", 4},     {"float64", "DOUBLE", 8}, {"float16", "FLOAT16", 2},
                                 {"bfloat16", "BFLOAT16", 2}, {"int64", "INT64", 8},    {"int32", "INT32", 4},
                                 {"int16", "INT16", 2},       {"int8", "INT8", 1},      {"uint64", "UINT64", 8},
                                 {"uint32", "UINT32", 4},     {"uint16", "UINT16", 2},  {"uint8", "UINT8", 1},
                                 {"boolean", "BOOL", 1},      {"bool", "BOOL", 1}};

std::string cpp_input(const Json& input) {
  for (const CppType& type : kCppTypes)
    if (type.name == input["type"].text())
      return fmt::format("      {{{}, ONNX_TENSOR_ELEMENT_DATA_TYPE_{}, {}, {{{}}}}},\n", source_text(input["name"].text()),
                         type.onnx, type.bytes, sizes_text(input["shape"]));
  return {};
}

std::string python_input(const Json& input) {
  const std::string type = python_type(input["type"].text());
  const std::string shape = "[" + sizes_text(input["shape"]) + "]";
  return "    feed[" + source_text(input["name"].text()) + "] = " +
         (type.starts_with("float") ? "random.random(" + shape + ").astype(np." + type + ")"
                                    : "np.zeros(" + shape + ", dtype=np." + type + ")") +
         "\n";
}

std::string filled(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [mark, value] : values)
    if (const auto at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), value);
  return text;
}

}  // namespace

std::string python_program(const Deployment& deployment, const std::string& pattern) {
  const RunRequest& request = deployment.configuration;
  const auto on = [&](const char* name) { return setting(deployment, name, "on") == "on" ? "True" : "False"; };
  Json providers = Json::array();
  providers.push(deployment.provider);
  if (deployment.provider != "CPUExecutionProvider") providers.push("CPUExecutionProvider");
  std::string options, inputs;
  if (request.threads) options += fmt::format("    options.intra_op_num_threads = {}\n", *request.threads);
  if (const auto inter = setting(deployment, "inter_op_threads", ""); !inter.empty())
    options += "    options.inter_op_num_threads = " + inter + "\n";
  if (setting(deployment, "execution_mode", "") == "parallel")
    options += "    options.execution_mode = ort.ExecutionMode.ORT_PARALLEL\n";
  options += "    options.graph_optimization_level = " + level_name(deployment, "ort.GraphOptimizationLevel.ORT_") + "\n";
  options += fmt::format("    options.enable_cpu_mem_arena = {}\n    options.enable_mem_pattern = {}\n", on("memory_arena"),
                         on("memory_pattern"));
  for (const auto& [name, value] : config_entries(deployment))
    options += "    options.add_session_config_entry(" + source_text(name) + ", " + source_text(value) + ")\n";
  for (const Json& input : deployment.inputs.items()) inputs += python_input(input);
  return filled(pattern, {{"@MODEL@", source_text(deployment.model_path)},
                          {"@PROVIDERS@", providers.dump(-1)},
                          {"@OPTIONS@", options},
                          {"@INPUTS@", inputs}});
}

std::string cpp_program(const Deployment& deployment, const std::string& pattern) {
  const RunRequest& request = deployment.configuration;
  std::string options, inputs;
  if (request.threads) options += fmt::format("  check(api->SetIntraOpNumThreads(options, {}));\n", *request.threads);
  if (const auto inter = setting(deployment, "inter_op_threads", ""); !inter.empty())
    options += "  check(api->SetInterOpNumThreads(options, " + inter + "));\n";
  if (setting(deployment, "execution_mode", "") == "parallel")
    options += "  check(api->SetSessionExecutionMode(options, ORT_PARALLEL));\n";
  options += "  check(api->SetSessionGraphOptimizationLevel(options, " + level_name(deployment, "ORT_") + "));\n";
  if (setting(deployment, "memory_arena", "on") == "off") options += "  check(api->DisableCpuMemArena(options));\n";
  if (setting(deployment, "memory_pattern", "on") == "off") options += "  check(api->DisableMemPattern(options));\n";
  for (const auto& [name, value] : config_entries(deployment))
    options += "  check(api->AddSessionConfigEntry(options, " + source_text(name) + ", " + source_text(value) + "));\n";
  for (const Json& input : deployment.inputs.items()) inputs += cpp_input(input);
  return filled(pattern, {{"@MODEL@", source_text(deployment.model_path)}, {"@OPTIONS@", options}, {"@INPUTS@", inputs}});
}

}  // namespace aaco::workflows
