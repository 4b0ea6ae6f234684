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

// Empty where the answer does not fit 64 bits: only a damaged document gets there.
std::optional<std::int64_t> fit(__int128 ns) {
  if (ns > std::numeric_limits<std::int64_t>::max() || ns < std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  return static_cast<std::int64_t>(ns);
}

std::optional<std::int64_t> convert_direct(const std::vector<ClockPair>& pairs, TimePoint point, ClockId to) {
  std::vector<std::pair<std::int64_t, std::int64_t>> known;
  for (const ClockPair& pair : pairs)
    if (auto instants = oriented(pair, point.clock, to)) known.push_back(*instants);
  if (known.empty()) return std::nullopt;
  std::sort(known.begin(), known.end());
  const auto offset = [](const auto& instants) { return static_cast<__int128>(instants.second) - instants.first; };
  const auto after = std::upper_bound(known.begin(), known.end(), std::pair(point.ns, std::numeric_limits<std::int64_t>::max()));
  if (after == known.begin()) return fit(point.ns + offset(known.front()));
  const auto before = after - 1;
  if (after == known.end()) return fit(point.ns + offset(*before));
  // The drift is tiny beside the span: scaling the offset's change keeps full precision.
  const double span = static_cast<double>(after->first) - static_cast<double>(before->first);
  const double share = static_cast<double>(static_cast<__int128>(point.ns) - before->first) / span;
  return fit(point.ns + offset(*before) + static_cast<__int128>(share * static_cast<double>(offset(*after) - offset(*before))));
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
  return core::fail(
      core::ErrorCode::invalid_input,
      "no recorded offset between the clocks " + std::string(to_string(point.clock)) + " and " + std::string(to_string(to)));
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
  if (!document.is_array() && !document.is_null())
    return core::fail(core::ErrorCode::invalid_input, "the clock pairs must be a list");
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
