#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/compare.h"
#include "stats/detectable.h"
#include "stats/summary.h"

// Compares two sides metric by metric, with confidence.
namespace aaco::analytics::regression {

// One session's data for a metric: a series if available, otherwise a value.
struct SessionSample {
  std::vector<double> series;                         // in the order measured
  std::optional<double> value;                        // if there is no series
  std::optional<stats::Interval> ci95;                // of the value
  std::optional<std::int64_t> trials = std::nullopt;  // where the value is the share of so many that succeeded
};

enum class Better : std::uint8_t { lower, higher, neither };

struct MetricInput {
  std::string id;     // "latency.p50_ns"
  std::string unit;   // "ns"
  std::string scope;  // scope of a value: iteration, step, session
  std::optional<std::int64_t> device;
  Better better = Better::lower;
  stats::StatisticChoice statistic = 0.5;  // of a series
  bool exact = false;                      // a deterministic count: one value decides
  double threshold_ratio = 0.05;
  std::optional<double> reciprocal_of;  // the metric is this over the statistic of the series (throughput over mean latency)
  std::vector<SessionSample> a, b;
  std::string not_judged;  // why its values do not show a change of what is measured; empty: they do
};

// How the interval was computed.
enum class Method : std::uint8_t {
  none,       // no interval: reason says why
  bootstrap,  // sessions, then blocks of iterations (stats::compare)
  values,     // Student's t over one value per session
  interval,   // one value per side, each with an interval
  exact,      // nothing varies
  paired,     // adjacent blocks, round by round (stats/paired.h)
};
std::string_view to_string(Method method);

struct MetricResult {
  std::string id, unit, scope;
  std::optional<std::int64_t> device;
  Method method = Method::none;
  std::string reason;  // why there is no interval
  stats::Verdict verdict = stats::Verdict::inconclusive;
  bool corrected = false;  // the verdict was withdrawn by the multiple-testing correction
  double threshold_ratio = 0;
  std::optional<double> baseline, candidate, delta_ratio;
  std::optional<stats::Interval> interval;
  std::optional<stats::ChangeNoise> noise;  // of the log of candidate over baseline
  // The smallest true changes that this comparison decides, its threshold and every correction included.
  std::optional<stats::Detectable> detectable;
  bool between_sessions_known = false;
  std::optional<stats::WelchTest> welch;
  std::optional<stats::RankTest> rank;
  std::optional<stats::ShiftEstimate> shift;
  std::optional<double> p_value;          // that nothing changed
  std::optional<double> p_holm, q_value;  // adjusted over all metrics but the deciding one, which has its own p_value
  stats::VerdictShares shares;
  std::optional<std::int64_t> more_sessions, more_iterations;
  std::optional<double> third_session_within_ratio;  // as stats::Comparison
  // Of the deciding median: the first and third quartile of a session in which the median jumps between two modes.
  std::optional<stats::Interval> modes;
  std::string explanation;  // one sentence
};

struct Options {
  double level = 0.95;
  double power = 0.8;
  std::int64_t resamples = 2000;
  std::uint64_t seed = 1;
  std::optional<double> history_deviation_ratio;  // of latency between identical sessions, for one session per side
  std::int64_t history_count = 0;
  // Assumed deviation between sessions if neither the data nor history provides it: used for the confidence and, with
  // `assumption_widens`, also for the interval.
  double assumed_between_ratio = 0;
  bool assumption_widens = false;
  double first_error_share = 1;  // of 1 - level, for the deciding metric: kMedianErrorShare where the mean may decide too
};

// Median and mean latency share the decision: stalls that a median does not see are in the mean. Of the error that the level
// allows the median has more, since it is the more precise of both; together they have no more than one metric would.
inline constexpr double kMedianErrorShare = 0.6;
inline constexpr double kMeanErrorShare = 1 - kMedianErrorShare;

inline constexpr std::string_view kMedianLatency = "latency.p50_ns", kMeanLatency = "latency.mean_ns",
                                  kTailLatency = "latency.p90_ns", kThroughput = "throughput.items_per_second";
// Of a recorded program: run time and CPU time share the decision as median and mean do. Load that makes the run time scatter
// hardly moves the CPU time, which tells what the program itself does.
inline constexpr std::string_view kRecordedTime = "process.run_time_ns", kRecordedCpu = "process.cpu_time_ns";

// Compares the metrics. The first one decides: it is chosen beforehand and gets the full level, or its share of it where it
// shares the decision. Then mean latency and throughput, its reciprocal, have the other share. Where the median jumps between
// two modes, the 90 % quantile has the median's. CPU time has the other share beside the run time of a recording. The others are
// tested at the full level, and their regressions or improvements only count after Holm correction.
std::vector<MetricResult> compare(const std::vector<MetricInput>& metrics, const Options& options);

// none, minor, major (from twice the threshold, and 10 %), critical (from four times, and 20 %): of a regression only.
std::string_view severity_of(const MetricResult& result);
// 0..1: share of the confidence distribution that agrees with the verdict; if inconclusive, the share of the most likely
// answer.
double confidence_of(const MetricResult& result);

}  // namespace aaco::analytics::regression
