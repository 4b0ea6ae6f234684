#include "workflows/graph_nodes.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "graph/cost.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::node_order::Node;
using graph::OperatorClass;

// MIGraphX's instructions that are no ONNX operators; those of the GPU have the same names behind "gpu::".
OperatorClass class_of_instruction(std::string_view op) {
  constexpr auto kInstructions = std::to_array<std::pair<std::string_view, OperatorClass>>({
      {"dot", OperatorClass::gemm},
      {"quant_dot", OperatorClass::gemm},
      {"gemm", OperatorClass::gemm},
      {"quant_gemm", OperatorClass::gemm},
      {"hip_gemm", OperatorClass::gemm},
      {"convolution", OperatorClass::convolution},
      {"quant_convolution", OperatorClass::convolution},
      {"convolution_backwards", OperatorClass::convolution},
      {"pooling", OperatorClass::pooling},
      {"softmax", OperatorClass::softmax},
      {"logsoftmax", OperatorClass::softmax},
      {"contiguous", OperatorClass::copy},
      {"concat", OperatorClass::copy},
      {"gather", OperatorClass::gather},
      {"topk", OperatorClass::sort},
      {"pointwise", OperatorClass::elementwise},
      {"reduce_sum", OperatorClass::reduction},
      {"reduce_mean", OperatorClass::reduction},
      {"reduce_max", OperatorClass::reduction},
  });
  const bool on_gpu = op.starts_with("gpu::");
  if (on_gpu) op.remove_prefix(5);
  for (const auto& [name, kind] : kInstructions)
    if (name == op) return kind;
  return on_gpu ? OperatorClass::elementwise : OperatorClass::unknown;  // "gpu::add_relu"
}

Node node_of(std::string_view name, std::string_view op_type, std::string_view domain) {
  Node node;
  node.name = name;
  node.op_type = op_type;
  if (domain == "migraphx") {
    constexpr std::string_view kCompiled = "gpu::code_object::";
    if (op_type.starts_with(kCompiled)) node.kernel = op_type.substr(kCompiled.size());
    node.kind = class_of_instruction(op_type);
    return node;
  }
  graph::Node plain;
  plain.op_type = op_type;
  plain.domain = domain;
  node.kind = graph::class_of(plain);
  return node;
}

core::Result<std::vector<Node>> stored_graph(const std::string& session_path) {
  trace::NameTable names;
  std::map<std::int64_t, Node> nodes;
  AACO_TRY(tracelake::scan_table<trace::GraphNodeRow>(
      session_path, names, [&](std::span<const trace::GraphNodeRow> rows) -> core::Status {
        for (const auto& row : rows) {
          Node node = node_of(names.text(row.node_name), names.text(row.op_type), names.text(row.domain));
          node.flops = row.flops;
          nodes.emplace(row.node_index, std::move(node));
        }
        return {};
      }));
  std::vector<Node> list;
  for (auto& [index, node] : nodes) list.push_back(std::move(node));
  return list;
}

// In the order of the first execution; those of the CPU provider have no kernels.
core::Result<std::vector<Node>> executed_nodes(const std::string& session_path) {
  trace::NameTable names;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::pair<std::int64_t, Node>> nodes;  // first start
  AACO_TRY(tracelake::scan_table<trace::NodeExecutionRow>(
      session_path, names, [&](std::span<const trace::NodeExecutionRow> rows) -> core::Status {
        for (const auto& row : rows) {
          if (names.text(row.provider) == "CPUExecutionProvider") continue;
          auto [place, fresh] = nodes.try_emplace({row.node_index, row.node_name.value}, row.start_ns, Node());
          if (fresh) place->second.second = node_of(names.text(row.node_name), names.text(row.op_type), "");
          place->second.first = std::min(place->second.first, row.start_ns);
        }
        return {};
      }));
  std::multimap<std::int64_t, Node> ordered;
  for (auto& [key, node] : nodes) ordered.emplace(node.first, std::move(node.second));
  std::vector<Node> list;
  for (auto& [start, node] : ordered) list.push_back(std::move(node));
  return list;
}

}  // namespace

GraphNodes nodes_of(const graph::Model& model, std::string source) {
  GraphNodes out;
  out.source = std::move(source);
  const graph::GraphCost cost = graph::cost_of(model.graph);
  for (const graph::CostedNode& costed : cost.nodes) {
    Node node = node_of(costed.node->name, costed.node->op_type, costed.node->domain);
    node.kind = costed.cost.kind;
    if (costed.cost.known) node.flops = costed.cost.flops;
    for (const graph::TensorId output : costed.node->outputs) {
      if (!output.valid()) continue;
      const auto& shape = costed.graph->tensor(output).shape;
      if (const auto count = shape ? graph::element_count(*shape) : std::nullopt) node.elements = static_cast<double>(*count);
      break;
    }
    out.nodes.push_back(std::move(node));
  }
  return out;
}

core::Result<GraphNodes> session_nodes(const std::string& session_path) {
  GraphNodes out;
  AACO_ASSIGN(out.nodes, stored_graph(session_path));
  if (!out.nodes.empty()) {
    out.source = "graph_nodes";
    return out;
  }
  AACO_ASSIGN(out.nodes, executed_nodes(session_path));
  if (!out.nodes.empty()) out.source = "node_executions";
  return out;
}

}  // namespace aaco::workflows
