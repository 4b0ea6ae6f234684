#include "workflows/model_plan.h"

#include <algorithm>
#include <map>

#include "core/files.h"
#include "core/strings.h"
#include "graph/fuse.h"
#include "graph/partition.h"
#include "graph/support.h"

namespace aaco::workflows {
namespace {

using core::Json;
using graph::Graph;

core::Result<graph::FusionRules> rules_for(const std::string& backend, const Services& services) {
  const std::string folder = core::join_path(services.paths.share, "data/fusion");
  AACO_ASSIGN(const auto files, core::list_directory(folder));
  std::vector<std::string> known;
  for (const std::string& file : files)
    if (file.ends_with(".yaml")) known.push_back(file.substr(0, file.size() - 5));
  if (std::find(known.begin(), known.end(), backend) == known.end())
    return core::fail(core::ErrorCode::not_found, "no fusion rules for backend '" + backend + "'",
                      "available: " + core::join(known, ", "));
  return graph::load_fusion_rules(core::join_path(folder, backend + ".yaml"));
}

Json fusion_json(const Graph& graph, const graph::Fusion& fusion) {
  struct Fused {
    std::int64_t kernels = 0, nodes = 0;
    double saved_bytes = 0;
    std::string example;
  };
  std::map<std::string, Fused> rows;
  for (const graph::FusedGroup& group : fusion.groups) {
    Fused& row = rows[group.pattern];
    ++row.kernels;
    row.nodes += static_cast<std::int64_t>(group.nodes.size());
    row.saved_bytes += group.saved_bytes;
    if (row.example.empty())
      for (const std::size_t number : group.nodes)
        row.example += (row.example.empty() ? "" : " + ") + graph.nodes[number].qualified_type();
  }
  Json patterns = Json::array();
  for (const auto& [name, row] : rows)
    patterns.push(Json::object({{"pattern", name},
                                {"kernels", row.kernels},
                                {"nodes", row.nodes},
                                {"saved_bytes", row.saved_bytes},
                                {"example", row.example}}));
  Json apart = Json::array();
  for (const graph::NotFused& item : fusion.not_fused)
    apart.push(Json::object({{"pattern", item.pattern}, {"node", graph.nodes[item.node].name}, {"reason", item.reason}}));
  return Json::object({{"kernels", fusion.kernels},
                       {"saved_bytes", fusion.saved_bytes},
                       {"patterns", std::move(patterns)},
                       {"not_fused", std::move(apart)}});
}

Json partition_json(const Graph& graph, const graph::Partition& parts, const std::vector<graph::Target>& targets) {
  Json list = Json::array();
  for (const graph::Part& part : parts.parts)
    list.push(Json::object({{"target", targets[part.target].name},
                            {"nodes", part.nodes.size()},
                            {"flops", part.flops},
                            {"first", graph.nodes[part.nodes.front()].name},
                            {"last", graph.nodes[part.nodes.back()].name}}));
  Json transfers = Json::array();
  for (const graph::Transfer& item : parts.transfers)
    transfers.push(Json::object({{"tensor", graph.tensor(item.tensor).name},
                                 {"from", targets[item.from].name},
                                 {"to", targets[item.to].name},
                                 {"bytes", item.bytes}}));
  Json refusals = Json::array();
  for (const graph::Refusal& item : parts.refusals)
    refusals.push(
        Json::object({{"op_type", item.op_type}, {"target", item.target}, {"nodes", item.nodes}, {"reason", item.reason}}));
  return Json::object({{"parts", std::move(list)},
                       {"transfers", std::move(transfers)},
                       {"transfer_bytes", parts.transfer_bytes},
                       {"refusals", std::move(refusals)}});
}

// By FLOPs: what the hardware adds is not known here.
Json schedule_json(const Graph& graph, const graph::GraphCost& cost) {
  std::map<const graph::Node*, double> flops;
  for (const graph::CostedNode& item : cost.nodes) flops[item.node] = item.cost.flops * item.repeats;
  std::vector<double> work, one;
  for (const graph::Node& node : graph.nodes) {
    const auto kind = graph::class_of(node);
    work.push_back(flops[&node]);
    one.push_back(kind == graph::OperatorClass::view || kind == graph::OperatorClass::host ? 0 : 1);
  }
  const graph::Schedule by_work = schedule(graph, work), by_count = schedule(graph, one);
  return Json::object({{"longest_chain_nodes", by_count.critical},
                       {"longest_chain_flops", by_work.critical},
                       {"flops_at_once_ratio", by_work.parallelism},
                       {"widest_level_nodes", by_work.widest}});
}

// By what the backend takes, where data/support has it; else it takes all but what is requested on the host.
core::Result<graph::Partition> partition_for(const Graph& graph, const PlanRequest& request,
                                             const std::vector<graph::Target>& targets, const Services& services) {
  const std::string file = core::join_path(services.paths.share, "data/support/" + request.backend + ".yaml");
  if (!core::exists(file)) return graph::partition(graph, targets);
  AACO_ASSIGN(const graph::BackendSupport support, graph::load_backend_support(file));
  return graph::partition_by(graph, support, graph::ElementType::unknown, "host", request.on_host);
}

core::Result<std::vector<graph::Target>> targets_for(const Graph& graph, const PlanRequest& request) {
  for (const std::string& wanted : request.on_host)
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const graph::Node& node) { return node.qualified_type() == wanted; }))
      return core::fail(core::ErrorCode::invalid_argument, "the model has no operator '" + wanted + "'",
                        "run 'aaco inspect' without --on-host to list its operators");
  const auto refuses = [on_host = request.on_host](const Graph&, const graph::Node& node) {
    const bool there = std::find(on_host.begin(), on_host.end(), node.qualified_type()) != on_host.end();
    return there ? std::string("requested on the host") : std::string();
  };
  return std::vector<graph::Target>{{request.backend, refuses}, {"host", nullptr}};
}

}  // namespace

core::Result<Json> plan_model(const Graph& graph, const graph::GraphCost& cost, const PlanRequest& request,
                              const Services& services) {
  AACO_ASSIGN(const graph::FusionRules rules, rules_for(request.backend, services));
  AACO_ASSIGN(const auto targets, targets_for(graph, request));
  AACO_ASSIGN(const graph::Partition parts, partition_for(graph, request, targets, services));
  return Json::object({{"backend", rules.backend},
                       {"source", rules.source},
                       {"fusion", fusion_json(graph, graph::fuse(graph, rules))},
                       {"partition", partition_json(graph, parts, targets)},
                       {"concurrency", schedule_json(graph, cost)}});
}

}  // namespace aaco::workflows
