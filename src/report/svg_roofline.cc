#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/quantity.h"
#include "report/svg_axes.h"
#include "report/svg_plots.h"

namespace aaco::report {

std::optional<std::string> plot_roofline(const ReportModel& model) {
  if (!model.roofline) return std::nullopt;
  const Roofline& line = *model.roofline;
  double peak = 0, slowest = INFINITY, fastest = 0;
  for (const Roof& roof : line.roofs) {
    if (!(roof.per_second > 0)) continue;
    if (roof.kind == Roof::Kind::compute)
      peak = std::max(peak, roof.per_second);
    else
      slowest = std::min(slowest, roof.per_second), fastest = std::max(fastest, roof.per_second);
  }
  if (!(peak > 0) || !std::isfinite(slowest)) return std::nullopt;
  std::vector<RoofPoint> points;
  std::vector<double> intensities = {peak / slowest}, rates = {peak};
  for (const RoofPoint& point : line.points) {
    if (!(point.flops > 0 && point.bytes > 0 && point.time_ns > 0)) continue;
    points.push_back(point);
    intensities.push_back(point.flops / point.bytes);
    rates.push_back(point.flops / point.time_ns * 1e9);
  }
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });

  constexpr double kWidth = 900, kHeight = 460;
  Svg svg(kWidth, kHeight, "Roofline", line.text);
  const double top = draw_title(svg, "Roofline", report_title(model) + "; area of a point: time; x: FLOP/byte", kWidth);
  const Frame frame{110, top, kWidth - 24, kHeight - 36};
  const Extent xs = *extent_of(intensities), ys = *extent_of(rates);
  const Axis x{xs.low / 3, xs.high * 6, frame.left, frame.right, true};
  const Axis y{std::min(ys.low, slowest * xs.low) / 2, peak * 2.5, frame.bottom, frame.top, true};
  draw_y_axis(svg, y, frame, "flop/s");
  draw_x_axis(svg, x, frame, "");
  for (const Roof& roof : line.roofs) {
    if (!(roof.per_second > 0)) continue;
    const bool compute = roof.kind == Roof::Kind::compute;
    const std::string name = fit_pixels(roof.name, 240) + " " + format_quantity(roof.per_second, compute ? "flop/s" : "bytes/s");
    if (compute) {
      const double from = std::max(x.low, roof.per_second / fastest);
      svg.line(x(from), y(roof.per_second), frame.right, y(roof.per_second), kInk, 1.6);
      svg.text(frame.right, y(roof.per_second) - 6, name, {.fill = kInkSoft, .anchor = "end"});
      continue;
    }
    const double from = std::max(x.low, y.low / roof.per_second), to = peak / roof.per_second;
    if (to <= from) continue;
    const double x0 = x(from), y0 = y(from * roof.per_second), x1 = x(to), y1 = y(peak);
    svg.line(x0, y0, x1, y1, kInkSoft, 1.4, "7 4");
    svg.text(x0 + (x1 - x0) * 0.3, y0 + (y1 - y0) * 0.3 - 6, name,
             {.fill = kInkSoft, .turn = std::atan2(y1 - y0, x1 - x0) * 180 / 3.14159265358979});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const RoofPoint& point = points[i];
    const double px = x(point.flops / point.bytes), py = y(point.flops / point.time_ns * 1e9),
                 radius = std::max(4.0, std::sqrt(point.time_ns / points[0].time_ns) * 13);
    svg.circle(px, py, radius, Svg::slot_colour(static_cast<int>(std::min<std::size_t>(i, 7))),
               point.name + ": " + format_quantity(point.time_ns, "ns"));
    if (i < 6) svg.text(px + radius + 5, py + 4 + (i == 1 ? 12 : 0), fit_pixels(point.name, 160), {.bold = true});
  }
  return svg.finish();
}

}  // namespace aaco::report
