#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analytics/regression.h"

// What an interleaved comparison concludes from the rounds measured so far.
namespace aaco::analytics::regression {

// The durations of a round, block by block, in neighbouring pairs.
struct AbRoundBlocks {
  std::array<std::vector<std::vector<double>>, 2> sides;  // ns
  std::array<std::vector<double>, 2> caller_cpu;          // of a call, ns, block by block; empty: the kernel did not tell of all
  bool b_first = false;
};

struct AbRule {
  double threshold_ratio = 0.02;
  double level = 0.95;
  double power = 0.8;
  double detectable_ratio = 0.05;        // go on until so large an increase would be decided, even where it is decided before
  std::chrono::nanoseconds duration{};   // of each side, as asked for
  std::array<double, 2> items = {1, 1};  // that a call of each side works on
};

// One round as a pair of sides.
struct AbRoundChange {
  double change_ratio = 0;  // median of its pairs; 0 where no pair has an effect
  std::int64_t pairs = 0;
  double a_median_ns = 0, b_median_ns = 0;
};
AbRoundChange change_of(const AbRoundBlocks& round);

// Levels of intervals: of the one that judges, and of the one at the last look, whose power the smallest detectable change has. A
// comparison that an early look does not decide goes on to the last one.
struct AbLevels {
  double judged = 0.95;
  double last = 0.95;
  double change = 0;  // as stats::DecisionBar::change_level
};

// The change of one statistic of latency with its interval. Method::none with fewer than stats::kFewestRounds rounds.
MetricResult judge_rounds(const std::vector<AbRoundBlocks>& rounds, const std::string& id, stats::StatisticChoice statistic,
                          const AbLevels& levels, const AbRule& rule);

struct AbLook {
  std::string sentence;
  bool enough = false;  // decided, and the smallest detectable change is small enough
};
// Empty where this is no round to look at (stats::is_early_look), or nothing can be said yet.
std::optional<AbLook> look_at(const std::vector<AbRoundBlocks>& rounds, const AbRule& rule);

// Median latency, mean latency, which may decide in its place (let_mean_decide), throughput, and the caller's CPU time where
// every block has it. Rounds that ended at an early look are judged at that look's level, others at what the looks before have
// left.
std::vector<MetricResult> judge_all(const std::vector<AbRoundBlocks>& rounds, const AbRule& rule);

// What to do, by the deciding metric.
std::string recommend_ab(const MetricResult& decided, const AbRule& rule, std::size_t rounds);

}  // namespace aaco::analytics::regression
