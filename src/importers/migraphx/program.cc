#include "importers/migraphx/program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/numbers.h"
#include "core/strings.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::migraphx {
namespace {

using core::Json;

constexpr std::string_view kCodeObject = "gpu::code_object";
constexpr std::size_t kMaxModules = 10'000;

// Operators of a compiled program that only look at memory in another way.
constexpr auto kViews =
    std::to_array<std::string_view>({"load", "reshape", "reshape_lazy", "broadcast", "multibroadcast", "transpose", "slice",
                                     "squeeze", "unsqueeze", "flatten", "step", "as_shape", "get_tuple_elem", "identity"});

std::string element_type(std::string_view type) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"float", "float32"}, {"half", "float16"}, {"double", "float64"}, {"bf16", "bfloat16"}});
  if (type.ends_with("_type")) type.remove_suffix(5);
  for (const auto& [theirs, ours] : kNames)
    if (theirs == type) return std::string(ours);
  return clean_utf8(type);
}

std::string shape_json(const std::string& lengths) {
  std::string text = "[";
  const auto numbers = parse_lengths(lengths);
  if (!numbers) return Json::array({clean_utf8(lengths)}).dump();
  for (const std::int64_t number : *numbers) text.append(text.size() > 1 ? "," : "").append(std::to_string(number));
  return text + "]";
}

std::optional<std::int64_t> element_count(std::string_view lengths) {
  const auto numbers = parse_lengths(lengths);
  if (!numbers) return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t number : *numbers)
    if (__builtin_mul_overflow(count, number, &count)) return std::nullopt;
  return count;
}

// The first number of "2866.1/sec" or "0.348906ms (Min: ...)".
std::optional<double> leading_number(std::string_view text) {
  return core::parse_f64(text.substr(0, text.find_first_not_of("0123456789.eE+-")));
}

}  // namespace

void Program::line(std::string_view line) {
  if (const auto parsed = parse_instruction(line)) return instruction(*parsed);
  if (core::trim(line).empty()) return account_.drop("empty lines");
  other(core::trim(line));
}

void Program::begin_listing() {
  if (nodes_.empty()) return;
  account_.kept -= lines_;
  account_.dropped["earlier program listing"] += lines_;
  lines_ = 0;
  nodes_.clear();
  index_.clear();
  modules_.clear();
  timed_ = 0;
}

void Program::instruction(const Instruction& parsed) {
  const std::string name = clean_utf8(parsed.name);
  if (const auto known = index_.find(name); known != index_.end()) {
    Node& node = nodes_[known->second];
    const bool same = parsed.duration_ns && !node.duration_ns && node.op == parsed.op;
    if (same) {
      node.duration_ns = parsed.duration_ns;
      ++timed_;
      ++lines_;
      return account_.keep();
    }
    begin_listing();
  }
  if (nodes_.size() >= kMaxInstructions) return account_.drop("instruction limit reached");
  Node node;
  node.name = name;
  node.op = clean_utf8(parsed.op);
  node.symbols = clean_utf8(parsed.symbols);
  node.data_type = element_type(parsed.data_type);
  node.lengths = parsed.lengths;
  node.kernel = clean_utf8(attribute(parsed.attributes, "symbol_name"));
  node.duration_ns = parsed.duration_ns;
  node.elements = element_count(parsed.lengths);
  for (const std::string_view argument : parsed.arguments) {
    const auto input = index_.find(clean_utf8(argument));
    if (input == index_.end())
      ++unknown_inputs_;
    else
      node.inputs.push_back(input->second);
  }
  index_.emplace(name, nodes_.size());
  timed_ += node.duration_ns ? 1 : 0;
  ++lines_;
  nodes_.push_back(std::move(node));
  account_.keep();
}

void Program::other(std::string_view line) {
  constexpr auto kTotals = std::to_array<std::string_view>({"Batch size", "Rate", "Total time", "Percentiles (90%, 95%, 99%)",
                                                            "Total instructions time", "Overhead time", "Overhead"});
  account_.drop("lines that are not instructions");
  if (line.starts_with("Compiling")) compiling_ = true;
  if (line.starts_with("Reading: ")) model_ = clean_utf8(line.substr(9));
  if (line.starts_with("module: \"") && modules_.size() < kMaxModules)
    modules_.push_back(clean_utf8(line.substr(9, line.find('"', 9) - 9)));
  constexpr std::string_view kVersion = "[ MIGraphX Version: ";
  if (line.starts_with(kVersion)) {
    const auto close = line.find(']', kVersion.size());
    version_ =
        clean_utf8(core::trim(line.substr(kVersion.size(), close == std::string_view::npos ? close : close - kVersion.size())));
    if (const auto colon = line.find("): ", kVersion.size()); colon != std::string_view::npos)
      command_ = clean_utf8(line.substr(colon + 3));
  }
  for (const std::string_view key : kTotals)
    if (line.starts_with(key) && line.substr(key.size()).starts_with(": "))
      report_[std::string(key)] = clean_utf8(line.substr(key.size() + 2, 256));
}

std::string Program::op_type(const Node& node) {
  if (node.op == kCodeObject && !node.kernel.empty()) return node.op + "::" + node.kernel;  // as the report's own summary has it
  if (node.op.starts_with("@param:")) return "@param";
  return node.op;
}

std::string_view Program::class_of(const Node& node) {
  if (node.op.starts_with("@param")) return "parameter";
  if (node.op.starts_with("@literal") || node.op.find("literal") != std::string::npos) return "literal";
  if (node.op.starts_with("@")) return "control";
  if (node.op.starts_with(kCodeObject)) return "fused_kernel";
  if (node.op.starts_with("gpu::")) return "library_or_single_kernel";
  if (node.op.starts_with("hip::") || node.op.starts_with("allocate")) return "memory";
  if (node.op.starts_with("ref::") || node.op.starts_with("cpu::") || node.op.starts_with("dnnl::")) return "host";
  if (node.op.starts_with("check_context")) return "control";
  return std::find(kViews.begin(), kViews.end(), node.op) != kViews.end() ? "view" : "operator";
}

void Program::write(trace::Sink& sink) const {
  std::int64_t clock_ns = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const std::string_view kind = class_of(node);
    const bool on_gpu = kind == "fused_kernel" || kind == "library_or_single_kernel" || node.op.starts_with("hip::");
    trace::GraphNodeRow row;
    row.node_index = static_cast<std::int64_t>(i);
    row.node_name = sink.name(node.symbols.empty() ? node.name : node.symbols);
    row.op_type = sink.name(op_type(node));
    row.domain = sink.name("migraphx");
    if (on_gpu || kind == "host") row.provider = sink.name(on_gpu ? "gpu" : "host");
    if (kind == "literal") row.parameter_count = node.elements;
    sink.add(row);
    for (const std::size_t input : node.inputs) {
      trace::GraphEdgeRow edge;
      edge.tensor = sink.name(nodes_[input].name);
      edge.source_node = static_cast<std::int64_t>(input);
      edge.target_node = row.node_index;
      edge.data_type = sink.name(nodes_[input].data_type);
      edge.shape = sink.name(shape_json(nodes_[input].lengths));
      sink.add(edge);
    }
    if (!node.duration_ns) continue;
    trace::NodeExecutionRow execution;
    execution.node_index = row.node_index;
    execution.node_name = row.node_name;
    execution.op_type = row.op_type;
    execution.provider = sink.name("MIGraphX");
    execution.start_ns = clock_ns;
    execution.duration_ns = *node.duration_ns;
    clock_ns += *node.duration_ns;
    sink.add(execution);
  }
}

Json Program::facts() const {
  std::map<std::string_view, std::int64_t> classes;
  std::map<std::string, std::int64_t> kernels;
  std::int64_t total_ns = 0;
  bool compiled = compiling_;
  for (const Node& node : nodes_) {
    const std::string_view kind = class_of(node);
    ++classes[kind];
    if (kind == "fused_kernel" || kind == "library_or_single_kernel") ++kernels[op_type(node)];
    compiled = compiled || kind == "fused_kernel" || kind == "library_or_single_kernel" || kind == "memory" || kind == "host";
    total_ns += node.duration_ns.value_or(0);
  }
  Json facts = Json::object({{"schema_version", 1},
                             {"stage", timed()    ? "perf"
                                       : compiled ? "compile"
                                                  : "read"},
                             {"instruction_count", nodes_.size()}});
  if (!model_.empty()) facts.set("model", model_);
  if (!version_.empty()) facts.set("version", version_);
  if (!command_.empty()) facts.set("command", command_);
  Json class_counts = Json::object();
  for (const auto& [name, count] : classes) class_counts.set(name, count);
  Json kernel_counts = Json::object();
  for (const auto& [name, count] : kernels) kernel_counts.set(name, count);
  facts.set("classes", std::move(class_counts)).set("kernels", std::move(kernel_counts));
  if (!modules_.empty()) {
    Json list = Json::texts(modules_);
    facts.set("modules", std::move(list));
  }
  if (unknown_inputs_ > 0) facts.set("inputs_without_instruction", unknown_inputs_);
  if (!timed()) return facts;
  Json report = Json::object({{"instructions_ns", total_ns}, {"timed_instruction_count", timed_}});
  const auto number = [&](const char* theirs, const char* ours, double factor) {
    const auto known = report_.find(theirs);
    if (known == report_.end()) return;
    if (const auto value = leading_number(known->second)) report.set(ours, *value * factor);
  };
  number("Batch size", "batch", 1);
  number("Rate", "rate_hz", 1);
  number("Total time", "total_ns", 1e6);
  number("Total instructions time", "stated_instructions_ns", 1e6);
  number("Overhead time", "overhead_ns", 1e6);
  Json stated = Json::object();
  for (const auto& [key, text] : report_) stated.set(key, text);
  facts.set("report", std::move(report)).set("stated", std::move(stated));
  return facts;
}

}  // namespace aaco::importers::migraphx
