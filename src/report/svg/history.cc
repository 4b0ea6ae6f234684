#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/history_plot.h"
#include "report/quantity.h"
#include "report/svg/axes.h"

namespace aaco::report {
namespace {

constexpr double kHistoryHeight = 380;

void draw_levels(Svg& svg, const HistoryPlot& plot, const Axis& x, const Axis& y) {
  for (std::size_t i = 0; i < plot.levels.size(); ++i) {
    const std::size_t next = i + 1 < plot.levels.size() ? plot.levels[i + 1].first : plot.x.size() - 1;
    const double level = y(plot.levels[i].second);
    svg.line(x(plot.x[plot.levels[i].first]), level, x(plot.x[std::min(next, plot.x.size() - 1)]), level, kAccent, 2);
  }
  for (const std::size_t step : plot.steps) svg.line(x(plot.x[step]), y.to, x(plot.x[step]), y.from, kAlarm, 1, "4 3");
}

void draw_cone(Svg& svg, const HistoryPlot& plot, const Axis& x, const Axis& y) {
  const double from = x(plot.x.back()), at = y(plot.levels.empty() ? plot.values.back() : plot.levels.back().second);
  const double to = x(plot.forecast->x);
  svg.path(fmt::format("M{} {}L{} {}L{} {}Z", svg_number(from), svg_number(at), svg_number(to), svg_number(y(plot.forecast->low)),
                       svg_number(to), svg_number(y(plot.forecast->high))),
           "#2f65ad22", "none");
  svg.line(from, at, to, y(plot.forecast->value), kAccent, 1.5, "6 4");
}

}  // namespace

std::string svg_history(const HistoryPlot& plot) {
  Svg svg(kChartWidth, kHistoryHeight, plot.title, plot.unit);
  std::vector<double> all = plot.values;
  if (plot.limit) all.push_back(*plot.limit);
  if (plot.forecast) all.insert(all.end(), {plot.forecast->low, plot.forecast->high});
  const auto range = extent_of(all);
  const double top =
      draw_title(svg, plot.title, plot.first_label + (plot.last_label.empty() ? "" : " to ") + plot.last_label, kChartWidth);
  if (!range || plot.x.empty()) return svg.finish();
  const Frame frame{100, top + 8, kChartWidth - 24, kHistoryHeight - 36};
  const Extent domain = padded(*range);
  const double end = std::max(plot.x.back(), plot.forecast ? plot.forecast->x : plot.x.back());
  const Axis x{plot.x.front(), end > plot.x.front() ? end : plot.x.front() + 1, frame.left, frame.right};
  const Axis y{domain.low, domain.high, frame.bottom, frame.top};
  draw_y_axis(svg, y, frame, plot.unit);
  draw_x_axis(svg, x, frame, plot.in_days ? "days" : "");
  if (plot.limit) {
    svg.line(frame.left, y(*plot.limit), frame.right, y(*plot.limit), kAlarm, 1.5);
    svg.text(frame.right, y(*plot.limit) - 5, "limit " + format_quantity(*plot.limit, plot.unit),
             {.fill = kAlarm, .anchor = "end"});
  }
  if (plot.forecast) draw_cone(svg, plot, x, y);
  for (std::size_t i = 0; i < plot.values.size(); ++i)
    svg.circle(x(plot.x[i]), y(plot.values[i]), 2.4, kInkSoft, format_quantity(plot.values[i], plot.unit));
  draw_levels(svg, plot, x, y);
  return svg.finish();
}

}  // namespace aaco::report
