#include "trace/clock_graph.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>

namespace aaco::trace {
namespace {

using core::ClockId;
using core::TimePoint;

// The pair as (from, to) instants, where it joins the two.
std::optional<std::pair<std::int64_t, std::int64_t>> oriented(const ClockPair& pair, ClockId from, ClockId to) {
  if (pair.a.clock == from && pair.b.clock == to) return std::pair(pair.a.ns, pair.b.ns);
  if (pair.b.clock == from && pair.a.clock == to) return std::pair(pair.b.ns, pair.a.ns);
  return std::nullopt;
}

std::optional<std::int64_t> convert_direct(const std::vector<ClockPair>& pairs, TimePoint point, ClockId to) {
  std::vector<std::pair<std::int64_t, std::int64_t>> known;
  for (const ClockPair& pair : pairs)
    if (auto instants = oriented(pair, point.clock, to)) known.push_back(*instants);
  if (known.empty()) return std::nullopt;
  std::sort(known.begin(), known.end());
  auto after = std::upper_bound(known.begin(), known.end(), std::pair(point.ns, std::numeric_limits<std::int64_t>::max()));
  if (after == known.begin()) return known.front().second + (point.ns - known.front().first);
  if (after == known.end() || after->first == (after - 1)->first) return (after - 1)->second + (point.ns - (after - 1)->first);
  const auto [from_0, to_0] = *(after - 1);
  const auto [from_1, to_1] = *after;
  // The drift is tiny beside the span: scaling the offset's change keeps full precision.
  const double share = static_cast<double>(point.ns - from_0) / static_cast<double>(from_1 - from_0);
  const std::int64_t offset_0 = to_0 - from_0;
  const std::int64_t offset_1 = to_1 - from_1;
  return point.ns + offset_0 + static_cast<std::int64_t>(share * static_cast<double>(offset_1 - offset_0));
}

}  // namespace

core::Result<TimePoint> ClockGraph::convert(TimePoint point, ClockId to) const {
  if (point.clock == to) return point;
  std::set<ClockId> seen = {point.clock};
  std::vector<TimePoint> frontier = {point};
  while (!frontier.empty()) {
    std::vector<TimePoint> next;
    for (const TimePoint& at : frontier) {
      if (auto direct = convert_direct(pairs_, at, to)) return TimePoint{to, *direct};
      for (const ClockPair& pair : pairs_)
        for (ClockId other : {pair.a.clock, pair.b.clock})
          if (!seen.contains(other))
            if (auto there = convert_direct(pairs_, at, other)) {
              seen.insert(other);
              next.push_back({other, *there});
            }
    }
    frontier = std::move(next);
  }
  return core::fail(core::ErrorCode::invalid_input, "no recorded offset joins the clocks " + std::string(to_string(point.clock)) +
                                                        " and " + std::string(to_string(to)));
}

ClockPair read_clock_pair(const core::Clock& clock, ClockId from) {
  ClockPair best;
  best.uncertainty_ns = std::numeric_limits<std::int64_t>::max();
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::int64_t before = clock.now_ns(ClockId::monotonic);
    const std::int64_t other = clock.now_ns(from);
    const std::int64_t after = clock.now_ns(ClockId::monotonic);
    const std::int64_t half = (after - before) / 2;
    if (half < best.uncertainty_ns) best = ClockPair{{from, other}, {ClockId::monotonic, before + half}, half};
  }
  return best;
}

core::Json to_json(const ClockGraph& graph) {
  core::Json pairs = core::Json::array();
  for (const ClockPair& pair : graph.pairs())
    pairs.push(core::Json::object({{"clock", to_string(pair.a.clock)},
                                   {"ns", pair.a.ns},
                                   {"other_clock", to_string(pair.b.clock)},
                                   {"other_ns", pair.b.ns},
                                   {"uncertainty_ns", pair.uncertainty_ns}}));
  return pairs;
}

core::Result<ClockGraph> clock_graph_from_json(const core::Json& document) {
  ClockGraph graph;
  for (const core::Json& item : document.items()) {
    const auto a = core::clock_from_string(item["clock"].text());
    const auto b = core::clock_from_string(item["other_clock"].text());
    const auto a_ns = item["ns"].as_i64();
    const auto b_ns = item["other_ns"].as_i64();
    if (!a || !b || !a_ns || !b_ns) return core::fail(core::ErrorCode::invalid_input, "a clock pair lacks a clock or a time");
    graph.add({{*a, *a_ns}, {*b, *b_ns}, item["uncertainty_ns"].as_i64().value_or(0)});
  }
  return graph;
}

}  // namespace aaco::trace
