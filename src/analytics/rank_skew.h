#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/metric.h"

// Load imbalance between the ranks of one job, and which rank delays the others.
namespace aaco::analytics::trace_time {

// One rank, summed over its devices.
struct RankTime {
  std::int32_t rank = 0;
  std::int64_t span_ns = 0;  // of the longest device
  std::int64_t compute_ns = 0;
  std::int64_t collective_count = 0;
  std::int64_t collective_sum_ns = 0;
  std::int64_t exposed_collective_ns = 0;
  std::int64_t idle_ns = 0;
  std::optional<double> step_mean_ns;
  bool operator==(const RankTime&) const = default;
};

// A rank that spends less time in collectives by at least this share of the longest is the straggler, if its own compute or idle
// time is longer too.
inline constexpr double kMinWaitShare = 0.1;

struct RankSkew {
  double compute_skew_ratio = 0;                // largest / mean - 1
  std::optional<double> step_skew_ratio;        // largest mean step / mean - 1
  std::optional<double> collective_wait_ratio;  // mean over the ranks of the time above the shortest, over the mean span
  std::optional<std::int32_t> straggler;
  // Mean over the other ranks of their exposed collectives beyond the straggler's own, over their mean span.
  double straggler_wait_ratio = 0;
  double confidence = 0;
  std::string evidence;  // one sentence
};

// Empty for fewer than two ranks. Collectives are compared if every rank took part in the same number: a collective ends for all
// at the same time, so the rank with the least time in it arrived last. Needs no common clock.
std::optional<RankSkew> rank_skew(const std::vector<RankTime>& ranks);
trace::Metrics skew_metrics(const RankSkew& skew, std::size_t ranks);

}  // namespace aaco::analytics::trace_time
