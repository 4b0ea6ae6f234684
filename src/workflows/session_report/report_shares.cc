#include "workflows/session_report/report_shares.h"

#include <algorithm>

#include "analytics/metric_catalogue.h"
#include "analytics/node_time.h"
#include "core/files.h"

namespace aaco::workflows {
namespace {

using analytics::metrics::IterationTime;
using analytics::metrics::NodeShare;
using report::TimeShare;

constexpr const char* kInNodes = "in nodes";

TimeShare part(std::string name, const IterationTime& time, double whole_ns) {
  TimeShare share;
  share.name = std::move(name);
  share.total_ns = time.mean_ns;
  share.share_ratio = whole_ns > 0 ? time.mean_ns / whole_ns : 0;
  share.ci95 = time.ci95;
  return share;
}

TimeShare share_of(const NodeShare& from, const trace::NameTable& names, bool is_node) {
  TimeShare share;
  share.name = names.text(is_node ? from.node_name : from.op_type);
  share.group = names.text(from.op_type);
  share.provider = names.text(from.provider);
  share.parent = is_node ? share.group : kInNodes;
  share.total_ns = from.time.mean_ns;
  share.share_ratio = from.share_ratio;
  share.ci95 = from.time.ci95;
  share.count = static_cast<std::int64_t>(from.executions + 0.5);
  if (is_node) {
    auto shapes = [&](trace::NameId id) {
      auto parsed = core::Json::parse(names.text(id));
      return parsed ? std::move(*parsed) : core::Json();
    };
    share.detail = core::Json::object({{"node_index", from.node_index}});
    share.detail.set_if("input_shapes", shapes(from.input_shapes)).set_if("output_shapes", shapes(from.output_shapes));
  }
  return share;
}

// The iteration whose duration is the median: its nodes stand for all in the timeline strip. Of an imported profile, a step.
const trace::IterationRow* median_profiled(std::span<const trace::IterationRow> iterations, const trace::NameTable& names) {
  std::vector<const trace::IterationRow*> profiled;
  for (const char* phase : {"profile", "step"})
    if (profiled.empty())
      for (const auto& row : iterations)
        if (names.text(row.phase) == phase) profiled.push_back(&row);
  if (profiled.empty()) return nullptr;
  auto middle = profiled.begin() + static_cast<std::ptrdiff_t>(profiled.size() / 2);
  std::nth_element(profiled.begin(), middle, profiled.end(),
                   [](const auto* a, const auto* b) { return a->duration_ns < b->duration_ns; });
  return *middle;
}

void add_timeline(report::ReportModel& model, const trace::IterationRow& iteration,
                  std::span<const trace::NodeExecutionRow> nodes, const trace::NameTable& names, std::int64_t origin_ns) {
  if (names.text(iteration.phase) == "profile")  // steps are there already
    model.timeline.push_back({"iterations", "profile " + std::to_string(iteration.iteration), "profile",
                              iteration.start_ns - origin_ns, iteration.duration_ns});
  for (const auto& node : nodes)
    if (node.iteration == iteration.iteration && node.rank == iteration.rank)
      model.timeline.push_back({"nodes, thread " + std::to_string(node.thread_id), std::string(names.text(node.node_name)),
                                std::string(names.text(node.op_type)), node.start_ns - origin_ns, node.duration_ns});
}

}  // namespace

core::Status fill_node_shares(report::ReportModel& model, LoadedSession& loaded, std::int64_t origin_ns) {
  AACO_ASSIGN(const auto* node_time, loaded.node_time());
  const auto& time = *node_time;
  if (!time.parts) return {};
  AACO_ASSIGN(const auto iterations, loaded.rows<trace::IterationRow>());
  AACO_ASSIGN(const auto nodes, loaded.rows<trace::NodeExecutionRow>());
  const trace::NameTable& names = loaded.names();
  const double whole = time.parts->whole.mean_ns;
  model.parts = {part(kInNodes, time.parts->in_nodes, whole), part("between nodes", time.parts->between_nodes, whole),
                 part("framework", time.parts->around_nodes, whole)};
  for (const auto& share : time.operators) model.operators.push_back(share_of(share, names, false));
  for (const auto& share : time.nodes) model.nodes.push_back(share_of(share, names, true));
  if (const auto* median = median_profiled(iterations, names)) add_timeline(model, *median, nodes, names, origin_ns);
  return {};
}

core::Result<std::vector<report::MetricDefinition>> metric_definitions(const core::Paths& paths) {
  AACO_ASSIGN(const auto catalogue, analytics::metrics::MetricCatalogue::load(core::join_path(paths.share, "data/metrics")));
  std::vector<report::MetricDefinition> out;
  for (const auto& from : catalogue.definitions()) {
    const bool lower = from.direction == analytics::metrics::Direction::lower_is_better;
    const bool higher = from.direction == analytics::metrics::Direction::higher_is_better;
    out.push_back({from.id, from.title, from.unit, from.formula, lower ? "lower" : higher ? "higher" : "", from.meaning});
  }
  return out;
}

}  // namespace aaco::workflows
