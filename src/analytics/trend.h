#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "stats/summary.h"

// What a series of measurements over days or versions did, and where it goes.
namespace aaco::analytics::trend {

struct Observation {
  double value = 0;                     // finite
  std::optional<std::int64_t> time_ns;  // of the realtime clock
};

struct Options {
  double threshold_ratio = 0.02;        // a change or a drift below this is no alarm
  std::optional<bool> lower_is_better;  // empty: neither direction is an alarm of its own kind, and every change is one
  std::optional<double> limit;          // the value that must not be passed, in the series' unit
  std::optional<double> budget_ratio;   // or: what the level may lose against where the present stretch began
  double horizon = 30;                  // forecast this far: days, or points where there are no times
};

enum class Meaning : std::uint8_t { regression, improvement, change };
std::string_view to_string(Meaning meaning);

// A step of the level.
struct Step {
  std::size_t index = 0;  // first observation after it
  double before = 0, after = 0;
  std::optional<double> delta_ratio;  // empty where a level is not above 0
  double p_value = 1;                 // rank test of the two stretches; the place having been searched for, it flatters
  bool bayes_agrees = false;          // the Bayesian online detector puts a change within 5 observations of it
  bool part_of_drift = false;         // the last stretch is a slope rather than steps, and this is one of them
  bool alarm = false;                 // at least the threshold (or without a ratio), and no part of a drift
  Meaning meaning = Meaning::change;
};

// The slope of the last stretch, by the median of all slopes between its points.
struct Drift {
  double per_unit = 0;  // of the value, a day or a point
  stats::Interval per_unit_ci95;
  std::optional<double> ratio_per_unit;  // of the present level, where that is above 0
  bool significant = false;  // its interval holds no 0, and it moved the level by the threshold and by two residual deviations
  Meaning meaning = Meaning::change;
};

struct Forecast {
  double ahead = 0;  // days or points
  double value = 0;
  stats::Interval interval;  // 95 % of single observations, if it goes on like this
};

// When a significant drift passes the limit.
struct Break {
  double limit = 0;
  double in_units = 0;  // days or points from the last observation; 0: it has passed it already
  double earliest = 0;
  std::optional<double> latest;  // empty: the slowest slope of the interval never does
};

struct Trend {
  bool in_days = false;  // x is days; else points
  std::vector<Step> steps;
  std::size_t stretch_start = 0;  // the last stretch: from the last step (or before the slope's own steps)
  double level = 0;               // where the series stands: the line's end with a drift, else the stretch's median
  std::optional<Drift> drift;     // from 8 observations of a stretch
  std::optional<Forecast> forecast;
  std::optional<Break> breaks;
  double recent_change_probability = 0;  // Bayesian: of a change within the last 5 observations
  std::vector<std::string> alarms;       // a sentence each; empty: nothing to look at
  // Whether an alarm is of something that became worse, or may have (where no direction is known): an improvement is worth a
  // look, and no failure.
  [[nodiscard]] bool worsened() const;
};

// Values in the order of time. Fails with invalid_input on fewer than 6 values, and on those that are not finite.
core::Result<Trend> analyze(const std::vector<Observation>& series, const Options& options = {});

}  // namespace aaco::analytics::trend
