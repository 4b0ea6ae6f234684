#include "report/thin.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace aaco::report {
namespace {

// The rows to keep: of each of `limit` / 2 equal runs the least and the greatest by `value`, and every row that `always` asks
// for.
template <class Value, class Always>
std::vector<std::size_t> extremes(std::size_t rows, std::size_t limit, Value value, Always always) {
  const std::size_t runs = std::max<std::size_t>(1, limit / 2);
  std::vector<std::size_t> kept;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t from = run * rows / runs, to = (run + 1) * rows / runs;
    if (from == to) continue;
    std::size_t least = from, greatest = from;
    for (std::size_t i = from; i < to; ++i) {
      if (value(i) < value(least)) least = i;
      if (value(i) > value(greatest)) greatest = i;
    }
    for (std::size_t i = from; i < to; ++i)
      if (i == least || i == greatest || always(i)) kept.push_back(i);
  }
  return kept;
}

template <class T>
std::vector<T> pick(const std::vector<T>& from, const std::vector<std::size_t>& rows) {
  std::vector<T> out;
  out.reserve(rows.size());
  for (const std::size_t row : rows) out.push_back(from[row]);
  return out;
}

}  // namespace

std::vector<IterationPoint> thin_iterations(const std::vector<IterationPoint>& points, std::size_t limit) {
  if (points.size() <= limit) return points;
  const auto starts_phase = [&](std::size_t i) { return i == 0 || points[i].phase != points[i - 1].phase; };
  const auto disturbed = [](const IterationPoint& point) { return !point.disturbance.empty(); };
  const bool few = static_cast<std::size_t>(std::count_if(points.begin(), points.end(), disturbed)) <= limit / 4;
  const auto always = [&](std::size_t i) { return starts_phase(i) || (few && disturbed(points[i])); };
  return pick(points, extremes(
                          points.size(), limit, [&](std::size_t i) { return points[i].duration_ns; }, always));
}

Series thin_series(const Series& series, std::size_t limit) {
  const std::size_t rows = std::min(series.time_ns.size(), series.value.size());
  if (rows <= limit) return series;
  const auto gap = [&](std::size_t i) { return !std::isfinite(series.value[i]); };
  const auto rows_kept = extremes(
      rows, limit, [&](std::size_t i) { return gap(i) ? 0.0 : series.value[i]; },
      [&](std::size_t i) { return gap(i) && (i == 0 || !gap(i - 1)); });
  return Series{series.metric, series.entity, series.unit, pick(series.time_ns, rows_kept), pick(series.value, rows_kept)};
}

std::vector<TimelineSpan> thin_timeline(const std::vector<TimelineSpan>& spans, std::size_t limit) {
  if (spans.size() <= limit) return spans;
  std::vector<std::size_t> rows(spans.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto longer = [&](std::size_t a, std::size_t b) {
    return spans[a].duration_ns != spans[b].duration_ns ? spans[a].duration_ns > spans[b].duration_ns : a < b;
  };
  std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(limit), rows.end(), longer);
  rows.resize(limit);
  std::sort(rows.begin(), rows.end());
  return pick(spans, rows);
}

ReportModel thinned_for_page(const ReportModel& model) {
  ReportModel out = model;
  out.iterations = thin_iterations(model.iterations, kPageIterations);
  if (model.sections.trace)
    out.timeline.clear();  // the trace's own shows more
  else
    out.timeline = thin_timeline(model.timeline, kPageSpans);
  for (Series& series : out.telemetry) series = thin_series(series, kPageSeriesPoints);
  return out;
}

core::Json counts_before_thinning(const ReportModel& model) {
  core::Json out;
  if (model.iterations.size() > kPageIterations) out.set("iterations", model.iterations.size());
  if (model.timeline.size() > kPageSpans) out.set("timeline", model.timeline.size());
  std::size_t longest = 0;
  for (const Series& series : model.telemetry) longest = std::max(longest, series.value.size());
  if (longest > kPageSeriesPoints) out.set("telemetry", longest);
  return out;
}

}  // namespace aaco::report
