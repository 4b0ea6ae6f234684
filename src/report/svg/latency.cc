#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/svg/axes.h"
#include "report/svg/plots.h"

namespace aaco::report {
namespace {

constexpr double kLatencyHeight = 400;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTallest = 3;  // times the median: what is beyond is marked at the upper edge

bool measured(const IterationPoint& point) {
  return point.phase.starts_with("measure") || point.phase == "step" || point.phase == "device_step";
}

std::string_view phase_colour(std::string_view phase) {
  return phase == "warmup"                                                 ? kInkSoft
         : phase == "measure" || phase == "step" || phase == "device_step" ? kAccent
                                                                           : Svg::slot_colour(2);
}

// Stretches of one phase in time: warm-up hatched, others than the plain measured one tinted, each with its name where it fits.
void draw_bands(Svg& svg, const std::vector<IterationPoint>& points, const Axis& x, const Frame& frame) {
  for (std::size_t from = 0, to; from < points.size(); from = to) {
    for (to = from; to < points.size() && points[to].phase == points[from].phase;) ++to;
    const double left = x(static_cast<double>(points[from].start_ns)),
                 right = x((static_cast<double>(points[to - 1].start_ns) + static_cast<double>(points[to - 1].duration_ns)));
    if (points[from].phase == "warmup")
      svg.rect(left, frame.top, right - left, frame.bottom - frame.top, "url(#hatch)");
    else if (points[from].phase != "measure" && points[from].phase != "step" && points[from].phase != "device_step")
      svg.rect(left, frame.top, right - left, frame.bottom - frame.top, "#eef3fa");
    if (right - left > 60)
      svg.text(left + 4, frame.top - 6, fit_pixels(points[from].phase, right - left - 8), {.fill = kInkSoft});
  }
}

void draw_marks(Svg& svg, const std::vector<IterationPoint>& points, const Axis& x, const Axis& y, const Frame& frame) {
  for (const IterationPoint& point : points) {
    const double px = x(static_cast<double>(point.start_ns)), py = y(static_cast<double>(point.duration_ns));
    if (static_cast<double>(point.duration_ns) > y.high)
      svg.path(fmt::format("M{} {}l3.5 -6l3.5 6z", svg_number(px - 3.5), svg_number(frame.top + 7)), kAlarm, "none");
    else if (point.outlier)
      svg.path(fmt::format("M{} {}l4.5 4.5l-4.5 4.5l-4.5 -4.5z", svg_number(px), svg_number(py - 4.5)), kPaper, kAlarm, 1.5);
    if (!point.disturbance.empty()) svg.line(px, frame.bottom, px, frame.bottom - 7, Svg::slot_colour(3), 2);
  }
}

std::vector<IterationPoint> in_time_order(std::vector<IterationPoint> points) {
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return points;
}

}  // namespace

std::optional<std::string> plot_latency(const ReportModel& model) {
  if (model.iterations.empty()) return std::nullopt;
  const auto points = in_time_order(model.iterations);
  std::vector<double> times, values, measured_values;
  for (const IterationPoint& point : points) {
    times.push_back(static_cast<double>(point.start_ns));
    values.push_back(static_cast<double>(point.duration_ns));
    if (measured(point)) measured_values.push_back(values.back());
  }
  const auto* median = trace::find_metric(model.metrics, "latency.p50_ns");
  Extent range = *extent_of(measured_values.empty() ? values : measured_values);
  if (median) range.high = std::min(range.high, std::max(median->value * kTallest, range.low * 1.01));
  range = padded(range);

  const auto outliers = std::count_if(points.begin(), points.end(), [](const auto& point) { return point.outlier; });
  Svg svg(kChartWidth, kLatencyHeight, "Latency over time", report_title(model));
  const double top = draw_title(svg, "Latency over time",
                                fmt::format("{}; {} {}s, {} outliers (diamonds), warm-up (hatched)", report_title(model),
                                            core::format_count(static_cast<double>(points.size())), call_of(model), outliers),
                                kChartWidth) +
                     22;
  const Frame frame{84, top, kChartWidth - 84, kLatencyHeight - 36};
  const Axis x{times.front(), std::max(times.back() + values.back(), times.front() + 1), frame.left, frame.right};
  const Axis y{range.low, range.high, frame.bottom, frame.top};
  draw_bands(svg, points, x, frame);
  draw_y_axis(svg, y, frame, "ns");
  draw_x_axis(svg, x, frame, "ns");
  std::vector<std::string> phases;
  for (const IterationPoint& point : points)
    if (std::find(phases.begin(), phases.end(), point.phase) == phases.end()) phases.push_back(point.phase);
  for (const std::string& phase : phases) {
    std::vector<double> own;
    for (std::size_t i = 0; i < points.size(); ++i)
      own.push_back(points[i].phase == phase ? std::min(values[i], range.high) : kNaN);
    svg.path(line_path(times, own, x, y), "none", phase_colour(phase), 1);
  }
  draw_marks(svg, points, x, y, frame);
  if (median && median->value >= range.low && median->value <= range.high) {
    svg.line(frame.left, y(median->value), frame.right, y(median->value), kInk, 1, "4 3");
    svg.text(frame.right + 6, y(median->value) - 3, "median", {.fill = kInkSoft});
    svg.text(frame.right + 6, y(median->value) + 11, typographic(format_quantity(median->value, "ns")), {.bold = true});
  }
  return svg.finish();
}

std::optional<std::string> plot_distribution(const ReportModel& model) {
  if (model.histogram.empty()) return std::nullopt;
  struct Mark {
    std::string_view label, id;
  };
  constexpr std::array<Mark, 5> kMarks = {{{"P50", "latency.p50_ns"},
                                           {"P90", "latency.p90_ns"},
                                           {"P95", "latency.p95_ns"},
                                           {"P99", "latency.p99_ns"},
                                           {"P99.9", "latency.p999_ns"}}};
  std::vector<double> ends;
  double most = 1, total = 0;
  for (const HistogramBin& bin : model.histogram) {
    ends.insert(ends.end(), {bin.low, bin.high});
    most = std::max(most, static_cast<double>(bin.count));
    total += static_cast<double>(bin.count);
  }
  for (const Mark& mark : kMarks)
    if (const auto* metric = trace::find_metric(model.metrics, mark.id)) {
      ends.push_back(metric->value);
      if (metric->ci95) ends.insert(ends.end(), {metric->ci95->low, metric->ci95->high});
    }
  const auto range = extent_of(ends);
  if (!range) return std::nullopt;
  const Extent domain = padded(*range, 0.02);
  Svg svg(kChartWidth, kLatencyHeight, "Latency distribution", report_title(model));
  const double top = draw_title(svg, "Latency distribution",
                                fmt::format("{}; {} measured {}s; bars above: 95 % CI of each quantile", report_title(model),
                                            core::format_count(total), call_of(model)),
                                kChartWidth) +
                     5 * 15 + 4;
  const Frame frame{84, top, kChartWidth - 24, kLatencyHeight - 36};
  const Axis x{domain.low, domain.high, frame.left, frame.right};
  const Axis y{0, most * 1.04, frame.bottom, frame.top};
  draw_y_axis(svg, y, frame, "count");
  for (const HistogramBin& bin : model.histogram)
    if (bin.count > 0)
      svg.rect(x(bin.low) + 0.5, y(static_cast<double>(bin.count)), std::max(1.5, x(bin.high) - x(bin.low) - 1),
               frame.bottom - y(static_cast<double>(bin.count)), kAccent);
  draw_x_axis(svg, x, frame, "ns");
  double row = 0;
  for (const Mark& mark : kMarks) {
    const auto* metric = trace::find_metric(model.metrics, mark.id);
    if (!metric) continue;
    const double px = x(metric->value), py = top - 5 * 15 + 4 + 15 * row++;
    const double from = metric->ci95 ? x(metric->ci95->low) : px, to = metric->ci95 ? x(metric->ci95->high) : px;
    svg.line(px, py, px, frame.bottom, kInkSoft, 1, "3 2");
    if (metric->ci95) svg.rect(from, py + 4, std::max(2.0, to - from), 6, Svg::slot_colour(1));
    svg.line(px, py, px, py + 14, kInk, 2);
    const bool left = to > frame.right - 110;
    svg.text(left ? from - 6 : to + 6, py + 11, std::string(mark.label) + " " + typographic(format_quantity(metric->value, "ns")),
             {.anchor = left ? "end" : "start", .bold = true});
  }
  return svg.finish();
}

}  // namespace aaco::report
