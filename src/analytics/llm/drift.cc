#include "analytics/llm/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analytics/llm.h"
#include "core/numbers.h"
#include "stats/fits.h"
#include "stats/ranks.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::size_t kMaxPoints = 200;  // of a line
constexpr double kBetterShape = 0.7;     // of the squared error of a straight line: a step, or a level before the line

std::string_view rose(double before, double after) { return after > before ? "rose" : "fell"; }

// Whether a change is large enough to be told.
bool large(double before, double after, double ratio) {
  const double low = std::min(before, after), high = std::max(before, after);
  return high >= ratio * low && high - low > kDriftFloorNs;
}

// Values over the time at which their requests were due, from the first on, in the order of it.
struct TimedValues {
  std::vector<double> seconds, values;
};

// The medians of equal parts of a series.
TimedValues thinned(const TimedValues& all) {
  const std::size_t count = std::min(all.values.size(), kMaxPoints);
  TimedValues some;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i * all.values.size() / count, to = (i + 1) * all.values.size() / count;
    std::vector<double> part(all.values.begin() + static_cast<std::ptrdiff_t>(from),
                             all.values.begin() + static_cast<std::ptrdiff_t>(to));
    std::sort(part.begin(), part.end());
    some.values.push_back(stats::quantile_of_sorted(part, 0.5));
    some.seconds.push_back(all.seconds[from]);
  }
  return some;
}

double squares(std::span<const double> values, double level) {
  double sum = 0;
  for (const double value : values) sum += (value - level) * (value - level);
  return sum;
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// How a series changes: from one level to another at once, or along a line from the end of a level on.
struct Shape {
  bool step = false;
  std::size_t from = 0;  // the first point that differs
  double before = 0, after = 0, error = INFINITY;
};

Shape step_at(const TimedValues& points, std::size_t from) {
  const std::span<const double> all(points.values);
  const double before = mean_of(all.first(from)), after = mean_of(all.subspan(from));
  return {true, from, before, after, squares(all.first(from), before) + squares(all.subspan(from), after)};
}

// The line begins at the level before it; least squares give its slope.
Shape line_from(const TimedValues& points, std::size_t from, double level) {
  double xx = 0, xy = 0;
  const auto distance = [&](std::size_t i) { return points.seconds[i] - points.seconds[from]; };
  for (std::size_t i = from; i < points.values.size(); ++i) {
    xx += distance(i) * distance(i);
    xy += distance(i) * (points.values[i] - level);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  Shape shape{false, from, level, level + slope * distance(points.values.size() - 1),
              squares(std::span(points.values).first(from), level)};
  for (std::size_t i = from; i < points.values.size(); ++i) {
    const double rest = points.values[i] - level - slope * distance(i);
    shape.error += rest * rest;
  }
  return shape;
}

Shape shape_of(const TimedValues& points) {
  const std::size_t count = points.values.size(), edge = std::max<std::size_t>(3, count / 20);
  Shape best;
  if (const auto line = stats::theil_sen(points.seconds, points.values)) best = line_from(points, 0, line->intercept);
  for (std::size_t from = edge; from + edge <= count; ++from) {
    for (const Shape& shape : {step_at(points, from), line_from(points, from, mean_of(std::span(points.values).first(from)))})
      if (shape.error < kBetterShape * best.error || (best.from > 0 && shape.error < best.error)) best = shape;
  }
  return best;
}

bool halves_differ(std::span<const double> values) {
  const auto half = static_cast<std::ptrdiff_t>((values.size() + 1) / 2);
  const auto before = stats::summarize({values.begin(), values.begin() + half}).p50;
  const auto after = stats::summarize({values.begin() + half, values.end()}).p50;
  if (!before || !after || !before->ci95 || !after->ci95) return false;
  const bool apart = before->ci95->high < after->ci95->low || after->ci95->high < before->ci95->low;
  return apart && large(before->value, after->value, kDriftRatio);
}

std::string drift_of(std::string_view name, const TimedValues& series) {
  if (series.values.size() < 2 * kFewestOfAHalf) return {};
  const TimedValues points = thinned(series);
  if (!halves_differ(series.values) && std::abs(stats::rank_trend(points.values)) < kTrendRank) return {};
  Shape shape = shape_of(points);
  const auto [low, high] = std::minmax_element(points.values.begin(), points.values.end());
  shape.before = std::clamp(shape.before, *low, *high);
  shape.after = std::clamp(shape.after, *low, *high);
  if (!large(shape.before, shape.after, shape.step ? kDriftRatio : kTrendRatio)) return {};
  const std::string before = core::format_duration(shape.before), after = core::format_duration(shape.after);
  const std::string_view verb = rose(shape.before, shape.after);
  const std::string since = core::format_duration(points.seconds[shape.from] * 1e9);
  if (shape.step) return fmt::format("the {} {} from about {} to about {}, {} into the load", name, verb, before, after, since);
  if (shape.from == 0)
    return fmt::format("the {} {} steadily, from about {} at the first request to about {} at the last", name, verb, before,
                       after);
  return fmt::format("the {} was about {} until {} into the load, and then {} to about {} at the last request", name, before,
                     since, verb, after);
}

}  // namespace

std::vector<std::string> drifts_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names) {
  std::vector<const trace::LlmRequestRow*> complete;
  for (const auto& row : requests)
    if (names.text(row.outcome) == "ok") complete.push_back(&row);
  std::stable_sort(complete.begin(), complete.end(),
                   [](const auto* a, const auto* b) { return a->scheduled_ns < b->scheduled_ns; });
  if (complete.empty()) return {};
  const std::int64_t start = complete.front()->scheduled_ns, last_due = complete.back()->scheduled_ns;
  std::int64_t first_end = INT64_MAX;
  for (const auto* row : complete) first_end = std::min(first_end, row->end_ns);
  const bool closed = names.text(complete.front()->load).starts_with("concurrency ");
  TimedValues ttft, tpot;
  const auto add = [&](TimedValues& series, const trace::LlmRequestRow& row, const std::optional<double>& value) {
    if (!value || (closed && row.scheduled_ns < first_end)) return;
    series.seconds.push_back(static_cast<double>(row.scheduled_ns - start) * 1e-9);
    series.values.push_back(*value);
  };
  for (const auto* row : complete) {
    const RequestTimes times = times_of(*row);
    add(ttft, *row, times.ttft_ns);
    if (row->end_ns <= last_due) add(tpot, *row, times.tpot_ns);
  }
  std::vector<std::string> drifts;
  for (std::string drift : {drift_of("TTFT", ttft), drift_of("TPOT", tpot)})
    if (!drift.empty()) drifts.push_back(std::move(drift));
  return drifts;
}

std::string backlog_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names) {
  if (requests.size() < kFewestOfAHalf || names.text(requests.front().load).starts_with("concurrency ")) return {};
  std::int64_t from = INT64_MAX, to = INT64_MIN;
  for (const auto& row : requests) {
    from = std::min(from, row.scheduled_ns);
    to = std::max(to, row.scheduled_ns);
  }
  const std::int64_t middle = from + (to - from) / 2;
  double due = 0, ended = 0, open = 0, open_before = 0;
  for (const auto& row : requests) {
    due += row.scheduled_ns > middle ? 1 : 0;
    ended += row.end_ns > middle && row.end_ns <= to ? 1 : 0;
    open += row.end_ns > to ? 1 : 0;
    open_before += row.scheduled_ns <= middle && row.end_ns > middle ? 1 : 0;
  }
  const double seconds = static_cast<double>(to - middle) * 1e-9;
  if (seconds <= 0 || ended > kKeepsUp * due || open < kBacklogGrowth * open_before + kFewestOfABacklog) return {};
  return fmt::format(
      "{:.3g} requests/s were due in its second half and {:.3g} ended: the backlog grew from {:.0f} to {:.0f} open "
      "requests",
      due / seconds, ended / seconds, open_before, open);
}

std::string groups_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names) {
  std::vector<double> values;
  for (const auto& row : requests)
    if (const auto times = times_of(row); times.tpot_ns && names.text(row.outcome) == "ok") values.push_back(*times.tpot_ns);
  std::sort(values.begin(), values.end());
  // The widest step, relative to the value before it, with enough values on either side.
  const std::size_t count = values.size(), edge = std::max(kFewestOfAGroup, count / 5);
  if (count < 2 * kFewestOfAGroup) return {};
  std::size_t split = 0;
  for (std::size_t i = edge; i + edge <= count; ++i)
    if (split == 0 || values[i] / values[i - 1] > values[split] / values[split - 1]) split = i;
  if (split == 0 || values[split] < kGroupStep * values[split - 1]) return {};
  const std::span<const double> all(values), low = all.first(split), high = all.subspan(split);
  const auto middle = [](std::span<const double> part, double p) { return stats::quantile_of_sorted(part, p); };
  // The step between the groups is wider than either group is within.
  const double step = high.front() - low.back();
  const double within = std::max(middle(low, 0.9) - middle(low, 0.1), middle(high, 0.9) - middle(high, 0.1));
  if (middle(high, 0.5) < kGroupRatio * middle(low, 0.5) || step < within) return {};
  const auto text = [&](std::span<const double> part) {
    return fmt::format("{} of {} requests {} to {}", part.size(), count, core::format_duration(middle(part, 0.1)),
                       core::format_duration(middle(part, 0.9)));
  };
  return fmt::format("two groups of requests by TPOT: {}, {}, and none between", text(low), text(high));
}

}  // namespace aaco::analytics::llm
