#include "workflows/node_pairs.h"

#include <algorithm>

#include "workflows/session/loaded_session.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::size_t kListedNodes = 200;  // the largest differences first

struct Profile {
  std::unique_ptr<LoadedSession> session;
  const analytics::metrics::NodeTime* time = nullptr;
  std::string id;
};

// Of the profiled run whose median is nearest the middle.
core::Result<std::optional<Profile>> profile_of(const ComparedSide& side) {
  auto runs = runs_by_median(side);
  const auto middle = static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::vector<std::pair<std::ptrdiff_t, const ComparedSession*>> nearest;
  for (std::size_t i = 0; i < runs.size(); ++i) nearest.emplace_back(std::abs(static_cast<std::ptrdiff_t>(i) - middle), runs[i]);
  std::stable_sort(nearest.begin(), nearest.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  for (const auto& [distance, run] : nearest) {
    const auto* executed = find_metric(run->metrics, "node.execution_count");
    if (executed == nullptr || executed->value <= 0) continue;
    Profile profile{std::make_unique<LoadedSession>(run->path), nullptr, run->id};
    AACO_ASSIGN(profile.time, profile.session->node_time());
    if (profile.time->parts) return std::optional(std::move(profile));
  }
  return std::optional<Profile>();
}

Json side_json(const analytics::metrics::NodeOfSide& side) {
  if (side.executions == 0) return {};
  return Json::object(
      {{"op_type", side.op_type}, {"provider", side.provider}, {"executions", side.executions}, {"time_ns", side.time_ns}});
}

}  // namespace

std::vector<const ComparedSession*> runs_by_median(const ComparedSide& side) {
  std::vector<std::pair<double, const ComparedSession*>> runs;
  for (const ComparedSession& session : side.sessions) {
    const auto* median = find_metric(session.metrics, "latency.p50_ns");
    if (session.kind == "run" && !session.path.empty() && median != nullptr) runs.emplace_back(median->value, &session);
  }
  std::stable_sort(runs.begin(), runs.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<const ComparedSession*> sorted;
  for (const auto& [median, session] : runs) sorted.push_back(session);
  return sorted;
}

core::Result<std::optional<NodePairs>> node_pairs(const ComparedSide& a, const ComparedSide& b) {
  AACO_ASSIGN(const auto of_a, profile_of(a));
  if (!of_a) return std::optional<NodePairs>();
  AACO_ASSIGN(const auto of_b, profile_of(b));
  if (!of_b) return std::optional<NodePairs>();
  return std::optional(
      NodePairs{of_a->id, of_b->id,
                analytics::metrics::compare_nodes(*of_a->time, of_a->session->names(), *of_b->time, of_b->session->names())});
}

Json to_json(const NodePairs& pairs) {
  const auto& changes = pairs.changes;
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(kListedNodes, changes.nodes.size()); ++i) {
    const auto& node = changes.nodes[i];
    Json one = Json::object({{"node", node.name}});
    if (!node.former_name.empty()) one.set("former_name", node.former_name);
    list.push(one.set("change", to_string(node.kind))
                  .set("delta_ns", node.delta_ns)
                  .set("baseline", side_json(node.a))
                  .set("candidate", side_json(node.b)));
  }
  return Json::object({{"baseline_session", pairs.baseline_session},
                       {"candidate_session", pairs.candidate_session},
                       {"delta_ns", changes.delta_ns},
                       {"between_nodes_ns", changes.between_nodes_ns},
                       {"around_nodes_ns", changes.around_nodes_ns},
                       {"node_count", changes.nodes.size()},
                       {"nodes", std::move(list)}});
}

}  // namespace aaco::workflows
