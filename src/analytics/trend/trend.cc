#include "analytics/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/trend/stretch.h"
#include "analytics/trend/two_levels.h"
#include "core/numbers.h"
#include "stats/distributions.h"
#include "stats/online_changes.h"
#include "stats/robust.h"

namespace aaco::analytics::trend {
namespace {

constexpr std::size_t kMinCount = 6;
constexpr std::size_t kMinForDrift = 8;
constexpr double kScatters = 2;         // standard deviations that a drift moves at least
constexpr std::int64_t kAgreement = 5;  // observations between the places of two methods
constexpr double kMedianEfficiency =
    0.37;  // of the median absolute deviation as a standard deviation (Huber, Robust Statistics, 1.2)

Meaning meaning_of(double delta, const std::optional<bool>& lower_is_better) {
  if (!lower_is_better || delta == 0) return Meaning::change;
  return (delta > 0) == *lower_is_better ? Meaning::regression : Meaning::improvement;
}

bool near_any(const std::vector<std::int64_t>& places, std::int64_t index) {
  return std::any_of(places.begin(), places.end(), [&](std::int64_t at) { return std::abs(at - index) <= kAgreement; });
}

// Noise of two levels, or a scatter that changes, makes segments whose levels differ by chance. A change of level is one that a
// second method sees: the ranks of both segments alone, or the Bayesian detector where the ranks, if enough, do not contradict.
void drop_unconfirmed(const std::vector<std::int64_t>& bayes, std::size_t count, std::vector<stats::ChangePoint>& found) {
  constexpr double kByRanksAlone = 1e-3, kContradicted = 0.02;
  constexpr std::int64_t kEnoughForRanks = 8;  // values of the shorter segment
  std::vector<std::int64_t> bounds{0};
  for (const auto& change : found) bounds.push_back(change.index);
  bounds.push_back(static_cast<std::int64_t>(count));
  std::size_t number = 0;
  std::erase_if(found, [&](const stats::ChangePoint& change) {
    ++number;
    if (change.shape == stats::ChangeShape::bend || change.p_value <= kByRanksAlone) return false;
    const std::int64_t shorter = std::min(bounds[number] - bounds[number - 1], bounds[number + 1] - bounds[number]);
    return !near_any(bayes, change.index) || (shorter >= kEnoughForRanks && change.p_value > kContradicted);
  });
}

// Changes that are flips between two levels are none. One after another: what a flip divided is judged as a whole, also by those
// before it.
std::optional<Alternation> drop_flips(const std::vector<double>& values, std::vector<stats::ChangePoint>& found) {
  const auto levels = two_levels(values);
  if (!levels) return std::nullopt;
  for (std::size_t i = 0; i < found.size();) {
    const auto from = i == 0 ? std::size_t{0} : static_cast<std::size_t>(found[i - 1].index);
    const auto place = static_cast<std::size_t>(found[i].index);
    const auto to = i + 1 < found.size() ? static_cast<std::size_t>(found[i + 1].index) : values.size();
    if (!explained_by_flips(*levels, values, from, place, to)) {
      ++i;
      continue;
    }
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
    if (i > 0) --i;
  }
  return Alternation{levels->low, levels->high, levels->flips};
}

// A regression that was taken back is over: a later step, and the level now, are at least most of the way back.
void mark_reverted(Trend& trend) {
  constexpr double kBack = 0.35;  // of the height of the step
  for (std::size_t i = 0; i < trend.steps.size(); ++i) {
    Step& step = trend.steps[i];
    if (step.meaning != Meaning::regression) continue;
    const double height = step.after - step.before;
    const auto is_back = [&](double level) { return (level - step.before) / height <= kBack; };
    if (!is_back(trend.level)) continue;
    for (std::size_t j = i + 1; j < trend.steps.size() && !step.reverted_at; ++j)
      if (is_back(trend.steps[j].after)) step.reverted_at = trend.steps[j].index;
  }
}

void add_steps(const std::vector<stats::ChangePoint>& found, const std::vector<std::int64_t>& bayes, const Options& options,
               Trend& trend) {
  for (const auto& change : found) {
    if (change.shape == stats::ChangeShape::bend) continue;  // a slope begins or ends: the drift's matter
    Step step;
    step.index = static_cast<std::size_t>(change.index);
    step.before = change.before;
    step.after = change.after;
    if (change.before > 0 && change.after > 0) step.delta_ratio = change.after / change.before - 1;
    step.p_value = change.p_value;
    step.bayes_agrees = near_any(bayes, change.index);
    step.part_of_drift = step.index > trend.stretch_start;
    step.alarm = !step.part_of_drift && (!step.delta_ratio || std::abs(*step.delta_ratio) >= options.threshold_ratio);
    step.meaning = meaning_of(change.after - change.before, options.lower_is_better);
    trend.steps.push_back(step);
  }
}

// `rather`: a line explains the stretch better than a step.
void add_drift(const Line& line, bool rather, double length, const Options& options, Trend& trend) {
  if (!line.slope_ci95) return;
  Drift drift;
  drift.per_unit = line.slope;
  drift.per_unit_ci95 = *line.slope_ci95;
  const bool sure = (line.slope_ci95->low > 0 || line.slope_ci95->high < 0) && rather;
  // A drift is told from chance, and is more than the threshold and than what single observations scatter by.
  const double moved = std::abs(line.slope) * length;
  drift.significant =
      sure && moved >= options.threshold_ratio * std::abs(trend.level) && moved >= kScatters * line.residual_deviation;
  drift.meaning = meaning_of(line.slope, options.lower_is_better);
  trend.drift = drift;
}

// How single observations scatter about where they should be.
struct Scatter {
  double deviation = 0;
  bool relative = false;  // a share of the value
  double count = 0;       // of observations it is from
};

Forecast forecast_of(const Trend& trend, const Scatter& scatter, double length, double ahead) {
  Forecast forecast;
  forecast.ahead = ahead;
  const bool moves = trend.drift && trend.drift->significant;
  const double slope = moves ? trend.drift->per_unit : 0;
  // A slope turns about the middle of the stretch.
  const double arm = ahead + length / 2;
  const double slope_error = moves ? (trend.drift->per_unit_ci95.high - trend.drift->per_unit_ci95.low) / 2 * arm : 0;
  forecast.value = trend.level + slope * ahead;
  const double critical = stats::student_t_quantile(0.975, std::max(2.0, kMedianEfficiency * scatter.count));
  const double half = std::hypot(slope_error, critical * scatter.deviation * (scatter.relative ? std::abs(forecast.value) : 1));
  forecast.interval = {forecast.value - half, forecast.value + half};
  return forecast;
}

// Units until the level passes the limit at this slope; empty: never.
std::optional<double> time_to(double level, double limit, double slope) {
  if ((limit - level) * slope <= 0) return std::nullopt;
  return (limit - level) / slope;
}

std::optional<double> limit_of(const Options& options, double start_level) {
  if (options.limit) return options.limit;
  if (!options.budget_ratio || !options.lower_is_better) return std::nullopt;
  return start_level * (*options.lower_is_better ? 1 + *options.budget_ratio : 1 - *options.budget_ratio);
}

std::optional<Break> break_of(const Trend& trend, const Options& options, double start_level) {
  const auto limit = limit_of(options, start_level);
  if (!limit || !options.lower_is_better) return std::nullopt;
  Break found{*limit, 0, 0, 0.0};
  if (*options.lower_is_better ? trend.level > *limit : trend.level < *limit) return found;
  if (!trend.drift || !trend.drift->significant) return std::nullopt;
  const auto when = time_to(trend.level, *limit, trend.drift->per_unit);
  if (!when) return std::nullopt;
  const auto a = time_to(trend.level, *limit, trend.drift->per_unit_ci95.low);
  const auto b = time_to(trend.level, *limit, trend.drift->per_unit_ci95.high);
  found.in_units = *when;
  found.earliest = std::min(a.value_or(*when), b.value_or(*when));
  found.latest = a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  return found;
}

std::string time_of(const Trend& trend, double units) {
  return fmt::format("{:.3g} {}{}", units, trend.in_days ? "day" : "point", units == 1 ? "" : "s");
}

void add_alarms(Trend& trend) {
  for (const Step& step : trend.steps)
    if (step.alarm)
      trend.alarms.push_back(fmt::format("{} {} at index {}{}", to_string(step.meaning),
                                         step.delta_ratio ? "of " + core::format_signed_percent(*step.delta_ratio)
                                                          : fmt::format("from {:.4g} to {:.4g}", step.before, step.after),
                                         step.index,
                                         step.reverted_at ? fmt::format(" (reverted at index {})", *step.reverted_at) : ""));
  if (trend.drift && trend.drift->significant)
    trend.alarms.push_back(fmt::format("drift of {} per {} ({})",
                                       trend.drift->ratio_per_unit ? core::format_signed_percent(*trend.drift->ratio_per_unit)
                                                                   : fmt::format("{:+.4g}", trend.drift->per_unit),
                                       trend.in_days ? "day" : "point", to_string(trend.drift->meaning)));
  if (!trend.breaks) return;
  if (trend.breaks->in_units == 0)
    trend.alarms.emplace_back("the budget is already exceeded");
  else
    trend.alarms.push_back(
        fmt::format("at this rate the budget will be exceeded in {} ({} at the earliest, {})",
                    time_of(trend, trend.breaks->in_units), time_of(trend, trend.breaks->earliest),
                    trend.breaks->latest ? time_of(trend, *trend.breaks->latest) + " at the latest" : "possibly never"));
}

struct Stretch {
  double length = 0, start_level = 0;
  Scatter scatter;
};

// The last segment as it is from `start` on: its level and drift go into `trend`.
Stretch stretch_from(std::size_t start, const Places& places, const std::vector<double>& values, const Options& options,
                     Trend& trend) {
  trend.stretch_start = start;
  trend.drift.reset();
  const std::vector<double> segment(values.begin() + static_cast<std::ptrdiff_t>(start), values.end());
  Stretch out;
  out.length = places.x.back() - places.x[start];
  trend.level = out.start_level = stats::median(segment);
  out.scatter = {stats::robust_deviation(segment), false, static_cast<double>(segment.size())};
  const auto line = segment.size() >= kMinForDrift ? line_through(places.x, values, start) : std::nullopt;
  if (!line || out.length <= 0) return out;
  add_drift(*line, rather_a_line(*line, places.x, values, start), out.length, options, trend);
  if (!trend.drift || !trend.drift->significant) return out;
  out.start_level = line->intercept + line->slope * places.x[start];
  trend.level = line->intercept + line->slope * places.x.back();
  out.scatter.deviation = line->residual_ratio.value_or(line->residual_deviation);
  out.scatter.relative = line->residual_ratio.has_value();
  return out;
}

core::Status check(const std::vector<Observation>& series) {
  if (series.size() < kMinCount)
    return core::fail(core::ErrorCode::invalid_input,
                      fmt::format("a history of {} values is too short to detect changes", series.size()),
                      fmt::format("provide at least {}", kMinCount));
  for (std::size_t i = 0; i < series.size(); ++i)
    if (!std::isfinite(series[i].value))
      return core::fail(core::ErrorCode::invalid_input,
                        fmt::format("the value at index {} of the history is not a finite number", i));
  return {};
}

}  // namespace

std::string_view to_string(Meaning meaning) {
  constexpr std::array<std::string_view, 3> kNames = {"regression", "improvement", "change"};
  return kNames[static_cast<std::size_t>(meaning)];
}

bool Trend::worsened() const {
  const bool stepped = std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.alarm && step.meaning != Meaning::improvement && !step.reverted_at;
  });
  return stepped || breaks || (drift && drift->significant && drift->meaning != Meaning::improvement);
}

core::Result<Trend> analyze(const std::vector<Observation>& series, const Options& options) {
  AACO_TRY(check(series));
  std::vector<double> values;
  for (const Observation& one : series) values.push_back(one.value);
  const Places places = places_of(series);
  stats::OnlineChangeDetector bayes;
  for (const double value : values) bayes.add(value);
  const auto agreeing = bayes.changes();
  auto found = stats::find_changes(values);
  drop_unconfirmed(agreeing, values.size(), found);

  Trend trend;
  trend.alternation = drop_flips(values, found);
  trend.in_days = places.in_days;
  trend.recent_change_probability = bayes.change_probability(kAgreement);
  Stretch stretch = stretch_from(stretch_start(places.x, values, found), places, values, options, trend);
  // Steps are part of a drift that is one; otherwise the last segment begins at the last of them.
  const std::size_t last_step = found.empty() ? 0 : static_cast<std::size_t>(found.back().index);
  if (trend.stretch_start < last_step && !(trend.drift && trend.drift->significant))
    stretch = stretch_from(last_step, places, values, options, trend);
  if (trend.drift && trend.level > 0) trend.drift->ratio_per_unit = trend.drift->per_unit / trend.level;
  add_steps(found, agreeing, options, trend);
  mark_reverted(trend);
  trend.tells_steps = values.size() >= kFewestForSteps;
  if (trend.tells_steps) trend.forecast = forecast_of(trend, stretch.scatter, stretch.length, options.horizon);
  trend.breaks = break_of(trend, options, stretch.start_level);
  add_alarms(trend);
  return trend;
}

}  // namespace aaco::analytics::trend
