#include "workflows/compiler/backend_fallback.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analytics/provider_seams.h"
#include "core/strings.h"

namespace aaco::workflows {
namespace {

using analytics::compiler::node_name;
using core::Json;

// What was seen of the nodes that fell to another provider.
struct Fallen {
  std::set<std::size_t> nodes;          // of the model
  std::vector<std::string> split_into;  // operators that the model does not have: parts of a node that was split
};

bool all_fell(const Json& runtime) {
  const auto& counts = runtime["nodes_by_provider"].members();
  // What it runs on instead stands as its provider.
  const Json& asked = runtime[runtime["requested_provider"].is_null() ? "provider" : "requested_provider"];
  return !counts.empty() && std::all_of(counts.begin(), counts.end(), [&](const auto& one) { return one.first != asked.text(); });
}

Fallen read_fallen(const graph::Graph& graph, const Json& runtime) {
  Fallen fallen;
  const analytics::compiler::KernelOrigins origins(graph);
  if (all_fell(runtime) && runtime["fallback_nodes"].items().empty())
    for (std::size_t node = 0; node < graph.nodes.size(); ++node)
      if (graph.nodes[node].op_type != "Constant") fallen.nodes.insert(node);
  for (const Json& one : runtime["fallback_nodes"].items()) {
    const std::string op_type(one["op_type"].text());
    if (const auto found = origins.nodes(one["node"].text(), op_type); !found.empty())
      fallen.nodes.insert(found.begin(), found.end());
    else if (!analytics::compiler::converts_only(op_type))
      fallen.split_into.push_back(op_type);
  }
  return fallen;
}

// Nodes on a way from `start`, forwards or backwards, to the first that is not among `fallen`.
std::optional<std::size_t> nearest_taken(const graph::Graph& graph, const std::vector<std::vector<std::size_t>>& next,
                                         const std::set<std::size_t>& fallen, std::size_t start) {
  std::vector<std::size_t> open{start};
  std::set<std::size_t> seen{start};
  for (std::size_t at = 0; at < open.size(); ++at)
    for (const std::size_t node : next[open[at]]) {
      if (!seen.insert(node).second || graph.nodes[node].op_type == "Constant") continue;
      if (!fallen.contains(node)) return node;
      open.push_back(node);
    }
  return std::nullopt;
}

// Whether the provider takes the node only behind certain nodes that it takes, too.
bool needs_maker(const graph::BackendSupport& support, const graph::Node& node) {
  return std::any_of(support.rules.rules.begin(), support.rules.rules.end(), [&](const graph::FusionPattern& rule) {
    const auto& ops = rule.steps.front().ops;
    return std::find(ops.begin(), ops.end(), node.qualified_type()) != ops.end() &&
           std::any_of(rule.values.begin(), rule.values.end(),
                       [](const graph::ValueCondition& one) { return one.reason == "provider_follows"; });
  });
}

struct Ways {
  explicit Ways(const graph::Graph& graph) : readers(graph.nodes.size()), makers(graph.nodes.size()) {
    std::vector<std::optional<std::size_t>> producer(graph.tensors.size());
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      for (const graph::TensorId id : graph.nodes[node].inputs)
        if (id.valid() && producer[index_of(id)]) {
          readers[*producer[index_of(id)]].push_back(node);
          makers[node].push_back(*producer[index_of(id)]);
        }
      for (const graph::TensorId id : graph.nodes[node].outputs)
        if (id.valid()) producer[index_of(id)] = node;
    }
  }
  std::vector<std::vector<std::size_t>> readers, makers;
};

}  // namespace

Json fallen_nodes(const graph::Graph& graph, const Json& runtime, const std::optional<graph::BackendSupport>& support,
                  const analytics::compiler::CompilerRules& rules) {
  Fallen fallen = read_fallen(graph, runtime);
  std::map<std::size_t, graph::SupportRefusal> why;
  if (support) {
    const graph::SupportCheck check(*support, graph::ElementType::unknown, graph);
    for (std::size_t node = 0; node < graph.nodes.size(); ++node)
      if (auto refusal = check.refusal(node)) why.emplace(node, std::move(*refusal));
  }
  // Nodes without a name, and such as the runtime splits into smaller ones before it asks the provider.
  std::vector<std::string> unmatched;
  for (const std::string& op_type : fallen.split_into) {
    bool found = false;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node)
      if (graph.nodes[node].name.empty() && graph.nodes[node].op_type == op_type)
        found = fallen.nodes.insert(node).second || found;
    if (!found) unmatched.push_back(op_type);
  }
  std::set<std::size_t> split;
  for (auto& [node, refusal] : why)
    if (!unmatched.empty() && !fallen.nodes.contains(node) && refusal.reason == "provider_operator") split.insert(node);
  for (const std::size_t node : split) {
    why.at(node).text += "; it was split, and the other provider runs " + core::join(unmatched, ", ");
    fallen.nodes.insert(node);
  }
  const Ways ways(graph);
  for (const std::size_t node : fallen.nodes) {
    if (!support || why.contains(node) || !needs_maker(*support, graph.nodes[node])) continue;
    for (const std::size_t maker : ways.makers[node])
      if (fallen.nodes.contains(maker))
        why.emplace(node, graph::SupportRefusal{"provider_follows", "follows '" + node_name(graph, maker) + "', which " +
                                                                        support->backend + " does not take"});
  }
  Json out = Json::array();
  for (const std::size_t node : fallen.nodes) {
    const auto known = why.find(node);
    const std::string id = known == why.end() ? "provider_unknown" : known->second.reason;
    Json row = Json::object({{"reason", id},
                             {"node", node_name(graph, node)},
                             {"op_type", graph.nodes[node].qualified_type()},
                             {"condition", known != why.end() ? known->second.text
                                                              : "cannot tell which condition " +
                                                                    graph.nodes[node].qualified_type() + " does not meet"}});
    if (const auto* reason = rules.find(id)) row.set("title", reason->title).set("remedy", reason->remedy);
    const auto before = nearest_taken(graph, ways.makers, fallen.nodes, node),
               behind = nearest_taken(graph, ways.readers, fallen.nodes, node);
    if (before && behind)
      row.set("splits", Json::object({{"before", node_name(graph, *before)}, {"behind", node_name(graph, *behind)}}));
    out.push(std::move(row));
  }
  if (split.empty())
    for (const std::string& op_type : unmatched)
      out.push(Json::object({{"reason", "provider_unknown"},
                             {"node", "a node that ONNX Runtime made"},
                             {"op_type", op_type},
                             {"condition", "cannot tell which node of the model it comes from"}}));
  return out;
}

}  // namespace aaco::workflows
