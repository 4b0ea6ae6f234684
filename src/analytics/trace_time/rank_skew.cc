#include "analytics/rank_skew.h"

#include <algorithm>

#include "core/numbers.h"

namespace aaco::analytics::trace_time {
namespace {

constexpr double kOwnShare = 0.5;  // of the difference in collectives, that the late rank's own work must explain
constexpr double kProved = 0.9;

// Largest over mean, less one.
std::optional<double> excess(const std::vector<double>& values) {
  double sum = 0, largest = 0;
  for (const double value : values) sum += value, largest = std::max(largest, value);
  if (values.empty() || sum <= 0) return std::nullopt;
  return largest * static_cast<double>(values.size()) / sum - 1;
}

// What the late rank does longer, where that is a large part of what the other one waits; empty: neither.
std::string own_time(const RankTime& late, const RankTime& waits, double waited_ns) {
  const auto compute = static_cast<double>(late.compute_ns - waits.compute_ns);
  const auto idle = static_cast<double>(late.idle_ns - waits.idle_ns);
  if (compute >= kOwnShare * waited_ns) return "computes " + core::format_duration(compute) + " longer";
  if (idle >= kOwnShare * waited_ns) return "is idle for " + core::format_duration(idle) + " longer: its host is late";
  return {};
}

double waited_for(const RankTime& late, const std::vector<RankTime>& ranks) {
  double waited = 0, span = 0;
  for (const RankTime& rank : ranks) {
    if (rank.rank == late.rank) continue;
    waited += std::max(0.0, static_cast<double>(rank.exposed_collective_ns - late.exposed_collective_ns));
    span += static_cast<double>(rank.span_ns);
  }
  return span > 0 ? waited / span : 0;
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
  // Late ranks are proved by what they do before the collective: collectives may take longer on one rank for reasons of the
  // network.
  const std::string before = own_time(*least, *most, difference);
  if (before.empty()) return;
  skew.straggler = least->rank;
  skew.confidence = kProved;
  skew.straggler_wait_ratio = waited_for(*least, ranks);
  skew.evidence = "rank " + std::to_string(least->rank) + " spends " + core::format_duration(difference) +
                  " less in collectives than rank " + std::to_string(most->rank) + ", so it arrives last; before them it " +
                  before;
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
