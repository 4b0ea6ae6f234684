#include "workflows/inspect.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/strings.h"
#include "estimation/memory.h"
#include "graph/batch.h"
#include "graph/cost.h"
#include "graph/parameters.h"
#include "workflows/models/graph_json.h"

namespace aaco::workflows {
namespace {

using core::Json;
using graph::GraphCost;

// A count as JSON: whole numbers stay whole.
Json count(double number) {
  constexpr double kExact = 9007199254740992;  // 2^53
  return number == std::floor(number) && number < kExact ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

double product_of(const std::vector<std::int64_t>& sizes) {
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

// Multiply-accumulates, as the papers count them: of products, convolutions and attention.
double macs_of(const GraphCost& cost) {
  double macs = 0;
  for (const graph::CostedNode& item : cost.nodes) {
    double own = 0;
    if (const auto* gemm = std::get_if<graph::GemmSite>(&item.cost.site)) {
      own = static_cast<double>(gemm->batch) * static_cast<double>(gemm->m) * static_cast<double>(gemm->n) *
            static_cast<double>(gemm->k);
    } else if (const auto* attention = std::get_if<graph::AttentionSite>(&item.cost.site)) {
      own = static_cast<double>(attention->batch) * static_cast<double>(attention->heads) *
                static_cast<double>(attention->queries) * static_cast<double>(attention->keys) *
                static_cast<double>(attention->head_dim + attention->value_dim) +
            attention->projection_macs;
    } else if (const auto* site = std::get_if<graph::ConvolutionSite>(&item.cost.site)) {
      own = static_cast<double>(site->n) * static_cast<double>(site->c) * static_cast<double>(site->k) /
            static_cast<double>(site->groups) * product_of(site->filter) *
            product_of(site->transposed ? site->input : site->output);
    } else if (item.cost.kind == graph::OperatorClass::convolution || item.cost.kind == graph::OperatorClass::depthwise ||
               item.cost.kind == graph::OperatorClass::recurrent || item.cost.kind == graph::OperatorClass::gemm) {
      own = item.cost.flops / 2;
    }
    macs += own * item.repeats;
  }
  return macs;
}

struct Row {
  graph::OperatorClass kind = graph::OperatorClass::unknown;
  std::int64_t nodes = 0;
  double flops = 0, bytes_read = 0, bytes_written = 0;
  bool known = true;
};

Json row_json(const Row& row, double flops) {
  return Json::object({{"nodes", row.nodes},
                       {"flops", count(row.flops)},
                       {"flops_ratio", flops > 0 ? Json(row.flops / flops) : Json()},
                       {"bytes_read", count(row.bytes_read)},
                       {"bytes_written", count(row.bytes_written)}});
}

void add(Row& row, const graph::CostedNode& item) {
  ++row.nodes;
  row.kind = item.cost.kind;
  row.flops += item.cost.flops * item.repeats;
  row.bytes_read += item.cost.bytes_read * item.repeats;
  row.bytes_written += item.cost.bytes_written * item.repeats;
  row.known = row.known && item.cost.known;
}

Json operators_json(const GraphCost& cost) {
  std::map<std::string, Row> rows;
  for (const graph::CostedNode& item : cost.nodes) add(rows[item.node->qualified_type()], item);
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.flops > b.second.flops; });
  Json out = Json::array();
  for (const auto& entry : sorted) {
    Json line = Json::object({{"op_type", entry.first}, {"class", to_string(entry.second.kind)}});
    const Json figures = row_json(entry.second, cost.flops);
    for (const auto& member : figures.members()) line.set_if(member.first, member.second);
    line.set("modelled", entry.second.known);
    out.push(std::move(line));
  }
  return out;
}

Json classes_json(const GraphCost& cost) {
  Json out = Json::object();
  for (const auto& [kind, total] : cost.classes)
    out.set(to_string(kind), row_json({kind, total.nodes, total.flops, total.bytes_read, total.bytes_written, true}, cost.flops));
  return out;
}

Json unmodelled_json(const GraphCost& cost) {
  Json out = Json::array();
  for (const graph::Unmodelled& item : cost.unmodelled)
    out.push(Json::object({{"op_type", item.op_type},
                           {"reason", item.reason},
                           {"nodes", item.nodes},
                           {"node_ratio", item.node_share},
                           {"activation_bytes", count(item.activation_bytes)},
                           {"activation_ratio", item.activation_share}}));
  return out;
}

Json nodes_json(const GraphCost& cost) {
  Json out = Json::array();
  for (const graph::CostedNode& item : cost.nodes) {
    Json line = Json::object({{"name", item.node->name},
                              {"op_type", item.node->qualified_type()},
                              {"class", to_string(item.cost.kind)},
                              {"outputs", tensors_json(*item.graph, item.node->outputs)},
                              {"repeats", count(item.repeats)}});
    if (item.cost.known) {
      line.set("flops", count(item.cost.flops)).set("bytes_read", count(item.cost.bytes_read));
      line.set("bytes_written", count(item.cost.bytes_written)).set("weight_bytes", count(item.cost.weight_bytes));
    } else {
      line.set("reason", item.cost.reason);
    }
    out.push(std::move(line));
  }
  return out;
}

Json parameters_json(const graph::Graph& graph) {
  const graph::ParameterTotals totals = count_parameters(graph);
  Json types = Json::object();
  for (const auto& [type, count] : totals.types) types.set(to_string(type), count);
  return Json::object({{"count", totals.elements}, {"bytes", totals.bytes}, {"types", std::move(types)}});
}

Json dimensions_json(const graph::Bindings& sizes) {
  Json out = Json::object();
  for (const auto& [name, size] : sizes) out.set(name, size);
  return out;
}

Json work_json(const GraphCost& cost) {
  const double bytes = cost.bytes_read + cost.bytes_written;
  return Json::object({{"flops", count(cost.flops)},
                       {"macs", count(macs_of(cost))},
                       {"bytes_read", count(cost.bytes_read)},
                       {"bytes_written", count(cost.bytes_written)},
                       {"weight_bytes", count(cost.weight_bytes)},
                       {"flops_per_byte", bytes > 0 ? Json(cost.flops / bytes) : Json()},
                       {"confidence_ratio", cost.confidence}});
}

std::string label_of(const graph::Graph& graph, std::int64_t number) {
  const graph::Node& node = graph.nodes[static_cast<std::size_t>(number)];
  return node.name.empty() ? node.op_type + " " + std::to_string(number) : node.name;
}

// Without what a runtime adds of its own.
Json memory_json(const graph::Graph& graph, bool timeline) {
  const estimation::MemoryEstimate estimate = estimation::estimate_memory(graph);
  Json at_peak = Json::array();
  for (const auto& tensor : estimate.at_peak) at_peak.push(Json::object({{"tensor", tensor.name}, {"bytes", tensor.bytes}}));
  Json out = Json::object({{"weight_bytes", estimate.weight_bytes},
                           {"input_bytes", estimate.input_bytes},
                           {"output_bytes", estimate.output_bytes},
                           {"kv_cache_bytes", estimate.kv_cache_bytes},
                           {"activation_bytes", estimate.activation_bytes},
                           {"workspace_bytes", estimate.workspace_bytes},
                           {"peak_bytes", estimate.peak_bytes},
                           {"unknown_tensors", estimate.unknown_tensors}});
  if (estimate.peak_node >= 0) out.set("peak_node", label_of(graph, estimate.peak_node));
  out.set("at_peak", std::move(at_peak));
  if (!timeline) return out;
  Json steps = Json::array();
  for (const auto& step : estimate.timeline)
    steps.push(Json::object({{"node", label_of(graph, step.node)},
                             {"activation_bytes", step.activation_bytes},
                             {"workspace_bytes", step.workspace_bytes}}));
  out.set("timeline", std::move(steps));
  return out;
}

core::Status check_strict(const graph::Model& model) {
  if (model.dimensions.assumptions.empty()) return {};
  return core::fail(core::ErrorCode::invalid_input,
                    "dimensions without a size: " + core::join(model.dimensions.assumptions, "; "),
                    "set them with --dim NAME=SIZE, or remove --strict");
}

}  // namespace

core::Result<Json> inspect(const InspectRequest& request, const Services& services) {
  AACO_ASSIGN(const graph::Model model, open_model(request.model, services));
  if (request.strict) AACO_TRY(check_strict(model));
  const graph::Graph& graph = model.graph;
  const GraphCost cost = cost_of(graph);
  std::vector<std::string> assumptions = model.dimensions.assumptions;
  assumptions.insert(assumptions.end(), model.shapes.assumptions.begin(), model.shapes.assumptions.end());
  Json out = Json::object({{"schema_version", 1},
                           {"model", request.model.name},
                           {"format", to_string(model.format)},
                           {"graph", graph.name},
                           {"producer", graph.producer},
                           {"opsets", opsets_json(graph)},
                           {"inputs", tensors_json(graph, graph.inputs)},
                           {"outputs", tensors_json(graph, graph.outputs)},
                           {"batch", model.items.count},
                           {"dimensions", dimensions_json(model.dimensions.sizes)},
                           {"assumptions", Json::texts(assumptions)},
                           {"node_count", cost.nodes.size()},
                           {"parameters", parameters_json(graph)},
                           {"constant_bytes", total_constants(graph).bytes}});
  if (graph.format_version > 0) out.set("ir_version", graph.format_version);
  if (!cost.newer.empty()) out.set("newer_versions", graph::to_json(cost.newer));
  const Json work = work_json(cost);
  for (const auto& member : work.members()) out.set_if(member.first, member.second);
  out.set("memory", memory_json(graph, request.nodes));
  out.set("shapes", Json::object({{"fixed", model.shapes.fixed},
                                  {"symbolic", model.shapes.symbolic},
                                  {"unknown", model.shapes.unknown},
                                  {"problems", Json::texts(model.shapes.problems)}}));
  out.set("classes", classes_json(cost)).set("operators", operators_json(cost)).set("unmodelled", unmodelled_json(cost));
  if (request.nodes) out.set("nodes", nodes_json(cost));
  if (!request.plan.backend.empty()) {
    AACO_ASSIGN(Json plan, plan_model(graph, cost, request.plan, services));
    out.set("plan", std::move(plan));
  }
  return out;
}

}  // namespace aaco::workflows
