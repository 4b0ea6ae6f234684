#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/compare.h"
#include "stats/summary.h"

// What changed between two sides, metric by metric, and how sure that is.
namespace aaco::analytics::regression {

// What one session says of one metric: a series where there is one, else a value.
struct SessionSample {
  std::vector<double> series;           // in the order measured
  std::optional<double> value;          // where there is no series
  std::optional<stats::Interval> ci95;  // of the value
};

enum class Better : std::uint8_t { lower, higher, neither };

struct MetricInput {
  std::string id;     // "latency.p50_ns"
  std::string unit;   // "ns"
  std::string scope;  // what a value is of: iteration, step, session
  std::optional<std::int64_t> device;
  Better better = Better::lower;
  stats::StatisticChoice statistic = 0.5;  // of a series
  bool exact = false;                      // a count that does not vary by chance: one value decides
  double threshold_ratio = 0.05;
  std::optional<double> reciprocal_of;  // the metric is this over the statistic of the series (throughput over mean latency)
  std::vector<SessionSample> a, b;
};

// How the interval came about.
enum class Method : std::uint8_t {
  none,       // no interval: reason says why
  bootstrap,  // sessions, then blocks of iterations (stats::compare)
  values,     // Student's t over one value a session
  interval,   // one value a side, each with its own interval
  exact,      // nothing varies
  paired,     // neighbouring blocks, round by round (stats/paired.h)
};
std::string_view to_string(Method method);

struct MetricResult {
  std::string id, unit, scope;
  std::optional<std::int64_t> device;
  Method method = Method::none;
  std::string reason;  // why there is no interval
  stats::Verdict verdict = stats::Verdict::inconclusive;
  bool corrected = false;  // the verdict of its interval was taken back by the correction for many metrics
  double threshold_ratio = 0;
  std::optional<double> baseline, candidate, delta_ratio;
  std::optional<stats::Interval> interval;
  std::optional<double> smallest_detectable_ratio;
  bool between_sessions_known = false;
  std::optional<stats::WelchTest> welch;
  std::optional<stats::RankTest> rank;
  std::optional<stats::ShiftEstimate> shift;
  std::optional<double> p_value;          // that nothing changed
  std::optional<double> p_holm, q_value;  // adjusted over all metrics but the deciding one, which has its own p_value
  stats::VerdictShares shares;
  std::optional<std::int64_t> more_sessions, more_iterations;
  std::string explanation;  // one sentence
};

struct Options {
  double level = 0.95;
  double power = 0.8;
  std::int64_t resamples = 2000;
  std::uint64_t seed = 1;
  std::optional<double> history_deviation_ratio;  // of latency between equal sessions, for one session a side
  std::int64_t history_count = 0;
  // What is taken for the deviation between sessions where neither the data nor history tells it: by the confidence, and with
  // `assumption_widens` by the interval too.
  double assumed_between_ratio = 0;
  bool assumption_widens = false;
};

// The metrics, the first of which decides: it is named before the data is seen and has the whole level. The others are judged at
// the level too, and a regression or improvement of theirs stands only if Holm's correction over them bears it out.
std::vector<MetricResult> compare(const std::vector<MetricInput>& metrics, const Options& options);

// none, minor, major (from twice the threshold), critical (from four times): of a regression only.
std::string_view severity_of(const MetricResult& result);
// 0..1: how much of the confidence distribution agrees with the verdict; of an inconclusive one, how much lies with the likeliest
// answer.
double confidence_of(const MetricResult& result);

}  // namespace aaco::analytics::regression
