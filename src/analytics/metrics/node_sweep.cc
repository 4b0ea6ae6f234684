#include "analytics/metrics/node_sweep.h"

#include <algorithm>
#include <map>

#include "core/check.h"

namespace aaco::analytics::metrics {
namespace {

struct Edge {
  std::int64_t time_ns = 0;
  bool is_start = false;
  std::size_t interval = 0;
};

// Ends before starts, so that neighbours do not overlap; of two that start together the longer one is outside.
std::vector<Edge> sorted_edges(std::span<const NodeInterval> intervals) {
  std::vector<Edge> edges;
  edges.reserve(2 * intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    AACO_CHECK(intervals[i].end_ns > intervals[i].start_ns);
    edges.push_back({intervals[i].start_ns, true, i});
    edges.push_back({intervals[i].end_ns, false, i});
  }
  std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    if (a.is_start != b.is_start) return !a.is_start;
    return a.is_start && intervals[a.interval].end_ns > intervals[b.interval].end_ns;
  });
  return edges;
}

}  // namespace

SweptTime sweep(std::span<const NodeInterval> intervals) {
  AACO_CHECK(!intervals.empty());
  const std::vector<Edge> edges = sorted_edges(intervals);
  SweptTime result;
  result.first_ns = edges.front().time_ns;
  result.last_ns = edges.back().time_ns;
  result.own_ns.assign(intervals.size(), 0.0);
  std::map<std::int64_t, std::vector<std::size_t>> stacks;  // by thread; only those that run something
  std::int64_t before = result.first_ns;
  for (const Edge& edge : edges) {
    if (!stacks.empty() && edge.time_ns > before) {
      const std::int64_t passed = edge.time_ns - before;
      result.union_ns += passed;
      for (const auto& [thread, stack] : stacks)
        result.own_ns[stack.back()] += static_cast<double>(passed) / static_cast<double>(stacks.size());
    }
    before = edge.time_ns;
    const std::int64_t thread = intervals[edge.interval].thread_id;
    std::vector<std::size_t>& stack = stacks[thread];
    if (edge.is_start) {
      stack.push_back(edge.interval);
      continue;
    }
    std::erase(stack, edge.interval);
    if (stack.empty()) stacks.erase(thread);
  }
  return result;
}

}  // namespace aaco::analytics::metrics
