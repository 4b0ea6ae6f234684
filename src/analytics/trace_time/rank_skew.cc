#include "analytics/rank_skew.h"

#include <algorithm>

namespace aaco::analytics::trace_time {
namespace {

// Largest over mean, less one.
std::optional<double> excess(const std::vector<double>& values) {
  double sum = 0, largest = 0;
  for (const double value : values) sum += value, largest = std::max(largest, value);
  if (values.empty() || sum <= 0) return std::nullopt;
  return largest * static_cast<double>(values.size()) / sum - 1;
}

void find_straggler(const std::vector<RankTime>& ranks, RankSkew& skew) {
  const auto by_collective = [](const RankTime& a, const RankTime& b) { return a.collective_sum_ns < b.collective_sum_ns; };
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), by_collective);
  double waited = 0, span = 0;
  for (const RankTime& rank : ranks) {
    waited += static_cast<double>(rank.collective_sum_ns - least->collective_sum_ns);
    span += static_cast<double>(rank.span_ns);
  }
  if (span > 0) skew.collective_wait_ratio = waited / span;
  const double difference = static_cast<double>(most->collective_sum_ns - least->collective_sum_ns);
  if (difference < kMinWaitShare * static_cast<double>(most->collective_sum_ns)) return;
  const auto busiest = std::max_element(ranks.begin(), ranks.end(),
                                        [](const RankTime& a, const RankTime& b) { return a.compute_ns < b.compute_ns; });
  skew.straggler = least->rank;
  skew.confidence = busiest->rank == least->rank ? 0.9 : 0.6;
  skew.evidence = "rank " + std::to_string(least->rank) + " spends the least time in collectives, so it arrives last" +
                  (busiest->rank == least->rank ? "; it also has the longest compute time"
                                                : ", but another rank has the longest compute time");
}

}  // namespace

std::optional<RankSkew> rank_skew(const std::vector<RankTime>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  RankSkew skew;
  std::vector<double> compute, steps;
  for (const RankTime& rank : ranks) {
    compute.push_back(static_cast<double>(rank.compute_ns));
    if (rank.step_mean_ns) steps.push_back(*rank.step_mean_ns);
  }
  skew.compute_skew_ratio = excess(compute).value_or(0);
  if (steps.size() == ranks.size()) skew.step_skew_ratio = excess(steps);
  const std::int64_t collectives = ranks.front().collective_count;
  const bool together = collectives > 0 && std::all_of(ranks.begin(), ranks.end(), [&](const RankTime& rank) {
                          return rank.collective_count == collectives;
                        });
  if (together) find_straggler(ranks, skew);
  return skew;
}

trace::Metrics skew_metrics(const RankSkew& skew, std::size_t ranks) {
  trace::Metrics metrics;
  const auto add = [&](const char* id, double value, const char* unit) { metrics.push_back({id, value, unit, {}, {}}); };
  add("ranks.rank_count", static_cast<double>(ranks), "count");
  add("ranks.compute_skew_ratio", skew.compute_skew_ratio, "ratio");
  if (skew.step_skew_ratio) add("ranks.step_skew_ratio", *skew.step_skew_ratio, "ratio");
  if (skew.collective_wait_ratio) add("ranks.collective_wait_ratio", *skew.collective_wait_ratio, "ratio");
  return metrics;
}

}  // namespace aaco::analytics::trace_time
