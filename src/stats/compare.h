#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "stats/detectable.h"
#include "stats/resampling.h"
#include "stats/summary.h"
#include "stats/two_sample.h"

namespace aaco::stats {

// What the interval of the change says about a threshold.
enum class Verdict {
  regression,    // wholly beyond the threshold in the bad direction
  improvement,   // wholly beyond it in the good direction
  equivalent,    // wholly inside
  inconclusive,  // anything else
};

std::string_view to_string(Verdict verdict);

struct CompareOptions {
  double threshold_ratio = 0.05;
  double level = 0.95;  // of the interval
  double power = 0.8;   // of the smallest detectable change
  bool lower_is_better = true;
  StatisticChoice statistic = 0.5;  // the quantile compared; empty: the mean
  std::int64_t resamples = 2000;
  std::uint64_t seed = 1;
  // Standard deviation between sessions from history, as a share of the value, and how many sessions it is from.
  std::optional<double> history_deviation_ratio = {};
  std::int64_t history_count = 0;
  // The same where neither the data nor history tells it: a guess that makes the interval as wide as equal sessions may lie
  // apart. 0: the interval holds within these sessions only.
  double assumed_deviation_ratio = 0;
};

// A is the baseline, B what is judged.
struct Comparison {
  Verdict verdict = Verdict::inconclusive;
  double baseline = 0;  // geometric mean of the sessions' statistics
  double candidate = 0;
  double delta_ratio = 0;     // (B - A) / A
  Interval interval;          // of delta_ratio, at the level asked for
  Detectable detectable;      // the smallest true changes that are decided at the level, with the power asked for
  ChangeNoise noise;          // of log_change, by the width of the interval
  double log_change = 0;      // log(B / A), of which delta_ratio is the ratio
  double standard_error = 0;  // of log_change
  double degrees_of_freedom = 1;
  double p_value = 1;                   // two-sided, that there is no change at all: Student's t of log_change
  bool between_sessions_known = false;  // false: one session a side and no history, so the interval rests on what is assumed
  bool between_sessions_assumed = false;
  std::optional<WelchTest> welch;  // on iterations, all sessions of a side together, correlation allowed for
  std::optional<RankTest> rank;
  std::optional<ShiftEstimate> shift;
  // Of an inconclusive verdict: about how much more would decide it, if the change stays where it is. Empty where it lies on the
  // threshold.
  std::optional<std::int64_t> more_sessions;  // a side
  // With one session a side and an assumed variance: how close, as a share, one more session must repeat the one of its side for
  // the present change to be decided. Empty: one more would not decide.
  std::optional<double> third_session_within_ratio;
  std::optional<std::int64_t> more_iterations;  // a side, instead: with one session a side and no variance between sessions
  std::string explanation;                      // one sentence, without `detectable`
};

// Compares two sides, each a list of sessions, each a series in the order measured. The interval is that of a bootstrap over
// sessions, then blocks of iterations, on the log of the ratio, widened to Student's t. Fails with invalid_argument on options
// out of range, with invalid_input on an empty side, on values that are not positive and finite, and where the statistic is not
// supported: minimum_count() values in a session of its own for a quantile other than the median, and on a side of one session.
core::Result<Comparison> compare(std::span<const std::vector<double>> a, std::span<const std::vector<double>> b,
                                 const CompareOptions& options = {});

// How the belief in a change is spread over the three answers: Student's t around the estimate, read as a confidence
// distribution. They add up to 1.
struct VerdictShares {
  double regression = 0;
  double equivalent = 0;
  double improvement = 0;
};
VerdictShares verdict_shares(double log_change, double standard_error, double degrees_of_freedom, double threshold_ratio,
                             bool lower_is_better);

// Two-sided p value of a log change that it is none.
double change_p_value(double log_change, double standard_error, double degrees_of_freedom);

// The verdict of an interval by the definition above; the whole rule.
Verdict judge(const Interval& delta, double threshold_ratio, bool lower_is_better);

}  // namespace aaco::stats
