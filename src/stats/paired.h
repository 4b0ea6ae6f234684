#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/compare.h"

namespace aaco::stats {

// A stretch of an interleaved comparison: blocks of both sides in turn, in processes that lived as long as the stretch. Effects
// are the logs of the ratios of neighbouring blocks (B over A), so that whatever is slower than a pair of blocks falls on both.
struct PairedRound {
  std::vector<double> effects;
};

// log(B / A) of neighbouring blocks by their statistic; pairs without a positive value on both sides are left out.
PairedRound make_round(std::span<const std::vector<double>> a_blocks, std::span<const std::vector<double>> b_blocks,
                       StatisticChoice statistic);

struct PairedEstimate {
  double log_change = 0;      // trimmed mean over the rounds of each round's Hodges-Lehmann centre
  double standard_error = 0;  // of it, from the winsorised variance between rounds
  double degrees_of_freedom = 1;
  std::int64_t rounds = 0, pairs = 0;
  std::vector<double> round_changes;  // log, in order
};

inline constexpr std::size_t kFewestRounds = 4;

// Empty below kFewestRounds rounds with an effect. A round is one draw of everything that a process has by chance (addresses,
// alignment, where its memory lies), and so the unit of chance: rounds are trimmed by a fifth at each end and the interval is
// Student's t over what is left (Tukey and McLaughlin, Sankhya A 25, 1963; Yuen, Biometrika 61, 1974), which disturbed rounds
// cannot pull away.
std::optional<PairedEstimate> paired_estimate(std::span<const PairedRound> rounds);

Interval paired_interval(const PairedEstimate& estimate, double level);  // of the change as a ratio
// The smallest true changes that such an interval decides.
Detectable paired_detectable(const PairedEstimate& estimate, const DecisionBar& bar);

// When a comparison that grows round by round is looked at, and at what level, so that all looks together keep the level asked
// for: early looks have kEarlyLevel each (Haybittle 1971, Peto et al. 1976), the last one what they leave.
inline constexpr double kEarlyLevel = 0.999;
bool is_early_look(std::int64_t rounds);                      // after 5, 8, 12, 18, 27, ... rounds
double last_level(double level, std::int64_t rounds_before);  // of the last look

}  // namespace aaco::stats
