#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "stats/summary.h"

// Trend of a series of measurements over days or versions, with a forecast.
namespace aaco::analytics::trend {

struct Observation {
  double value = 0;                     // finite
  std::optional<std::int64_t> time_ns;  // of the realtime clock
};

struct Options {
  double threshold_ratio = 0.02;        // smaller changes or drifts raise no alarm
  std::optional<bool> lower_is_better;  // empty: direction unknown, every change is an alarm
  std::optional<double> limit;          // the value that must not be exceeded, in the series' unit
  std::optional<double> budget_ratio;   // or: allowed loss since the start of the current segment
  double horizon = 30;                  // forecast horizon: days, or points without times
};

enum class Meaning : std::uint8_t { regression, improvement, change };
std::string_view to_string(Meaning meaning);

// A level shift.
struct Step {
  std::size_t index = 0;  // first observation after it
  double before = 0, after = 0;
  std::optional<double> delta_ratio;  // empty if a level is not above 0
  double p_value = 1;                 // rank test of the two segments; optimistic, as the position was searched for
  bool bayes_agrees = false;          // the Bayesian online detector puts a change within 5 observations of it
  bool part_of_drift = false;         // the last segment is a slope, and this step is part of it
  bool alarm = false;                 // at least the threshold (or without a ratio), and not part of a drift
  // Of a regression: the first observation from which on the values are back at the level before it.
  std::optional<std::size_t> reverted_at;
  Meaning meaning = Meaning::change;
};

// The slope of the last segment: the median of all slopes between its points (Theil-Sen).
struct Drift {
  double per_unit = 0;  // of the value, per day or point
  stats::Interval per_unit_ci95;
  std::optional<double> ratio_per_unit;  // of the current level, if above 0
  bool significant = false;  // its interval excludes 0, and it moved the level by the threshold and two residual deviations
  Meaning meaning = Meaning::change;
};

struct Forecast {
  double ahead = 0;  // days or points
  double value = 0;
  stats::Interval interval;  // 95 % prediction interval of single observations
};

// When a significant drift exceeds the limit.
struct Break {
  double limit = 0;
  double in_units = 0;  // days or points from the last observation; 0: already exceeded
  double earliest = 0;
  std::optional<double> latest;  // empty: not exceeded at the slowest slope of the interval
};

// The Bayesian detector learns its scale from as many, and the ranks of fewer, in two parts whose border was searched for, differ
// by chance too often.
inline constexpr std::size_t kFewestForSteps = 10;

// Values that go back and forth between two levels by chance: where they are is no change of level.
struct Alternation {
  double low = 0, high = 0;
  std::size_t flips = 0;
};

struct Trend {
  bool in_days = false;  // x is days; else points
  std::optional<Alternation> alternation;
  std::vector<Step> steps;
  std::size_t stretch_start = 0;     // the last segment: from the last step (or before the slope's steps)
  double level = 0;                  // current level: the end of the line with a drift, otherwise the segment's median
  std::optional<Drift> drift;        // needs 8 observations in a segment
  bool tells_steps = true;           // false: too few observations (kFewestForSteps) to tell a step from chance
  std::optional<Forecast> forecast;  // empty where a step cannot be told
  std::optional<Break> breaks;
  double recent_change_probability = 0;  // Bayesian: of a change within the last 5 observations
  std::vector<std::string> alarms;       // one sentence each; empty: no alarm
  // Whether an alarm concerns a degradation, or may (if the direction is unknown): an improvement, or a regression that was
  // reverted since, deserves a look but is not a failure.
  [[nodiscard]] bool worsened() const;
};

// Values in time order. Fails with invalid_input on fewer than 6 values and on non-finite values.
core::Result<Trend> analyze(const std::vector<Observation>& series, const Options& options = {});

}  // namespace aaco::analytics::trend
