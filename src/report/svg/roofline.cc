#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/quantity.h"
#include "report/svg/axes.h"
#include "report/svg/plots.h"

namespace aaco::report {

namespace {

constexpr double kRooflineWidth = 1040, kRooflineHeight = 460, kLabelHeight = 14;
constexpr double kNames = 230;  // right of the frame: names of the compute roofs

// What all roofs and points lie between.
struct Bounds {
  double peak = 0, slowest = INFINITY, fastest = 0;
  explicit Bounds(const std::vector<Roof>& roofs) {
    for (const Roof& roof : roofs) {
      if (!(roof.per_second > 0)) continue;
      if (roof.kind == Roof::Kind::compute)
        peak = std::max(peak, roof.per_second);
      else
        slowest = std::min(slowest, roof.per_second), fastest = std::max(fastest, roof.per_second);
    }
  }
  [[nodiscard]] bool usable() const { return peak > 0 && std::isfinite(slowest); }
};

// Stated, measured and reached ones differ in dash and weight as well as in their names.
struct Stroke {
  std::string_view colour;
  double width;
  std::string_view dash;
};
Stroke stroke_of(const Roof& roof) {
  const bool compute = roof.kind == Roof::Kind::compute;
  if (roof.basis == Roof::Basis::measured) return {compute ? kInk : kInkSoft, 2, "2 3"};
  if (roof.basis == Roof::Basis::reached) return {kAccent, 2.4, "12 3 2 3"};
  return compute ? Stroke{kInk, 1.6, ""} : Stroke{kInkSoft, 1.4, "7 4"};
}

std::string label_of(const Roof& roof) {
  return fit_pixels(roof.name, 150) + " " +
         format_quantity(roof.per_second, roof.kind == Roof::Kind::compute ? "flop/s" : "bytes/s");
}

std::vector<Roof> sorted(const std::vector<Roof>& roofs, Roof::Kind kind) {
  std::vector<Roof> own;
  for (const Roof& roof : roofs)
    if (roof.kind == kind && roof.per_second > 0) own.push_back(roof);
  std::stable_sort(own.begin(), own.end(), [](const Roof& a, const Roof& b) { return a.per_second > b.per_second; });
  return own;
}

void draw_compute_roofs(Svg& svg, const std::vector<Roof>& roofs, const Bounds& bounds, const Axis& x, const Axis& y,
                        const Frame& frame) {
  double free = frame.top + kLabelHeight - 4;  // names one above the other are moved apart, from the top down
  for (const Roof& roof : sorted(roofs, Roof::Kind::compute)) {
    const double from = std::max(x.low, roof.per_second / bounds.fastest), height = y(roof.per_second);
    const Stroke stroke = stroke_of(roof);
    svg.line(x(from), height, frame.right, height, stroke.colour, stroke.width, stroke.dash);
    const double label = std::max(height + 4, free);
    svg.text(frame.right + 6, label, label_of(roof), {.fill = kInkSoft});
    free = label + kLabelHeight;
  }
}

void draw_memory_roofs(Svg& svg, const std::vector<Roof>& roofs, const Bounds& bounds, const Axis& x, const Axis& y) {
  // The lines are parallel: neighbours have their names at different places along them, those that nearly coincide one name, of
  // what is stated before what was measured.
  constexpr double kPlaces[] = {0.06, 0.36, 0.21, 0.45}, kShortest = 150;
  std::vector<double> named;
  auto list = sorted(roofs, Roof::Kind::memory);
  std::stable_sort(list.begin(), list.end(), [](const Roof& a, const Roof& b) { return a.basis < b.basis; });
  for (const Roof& roof : list) {
    const double from = std::max(x.low, y.low / roof.per_second), to = std::min(bounds.peak / roof.per_second, x.high);
    if (to <= from) continue;
    const double x0 = x(from), y0 = y(from * roof.per_second), x1 = x(to), y1 = y(to * roof.per_second);
    const Stroke stroke = stroke_of(roof);
    svg.line(x0, y0, x1, y1, stroke.colour, stroke.width, stroke.dash);
    const double slope = std::atan2(y1 - y0, x1 - x0), height = y(roof.per_second * x.low) * std::cos(slope);
    if (std::hypot(x1 - x0, y1 - y0) < kShortest) continue;
    if (std::any_of(named.begin(), named.end(), [&](double other) { return std::abs(other - height) < kLabelHeight; })) continue;
    const double place = kPlaces[named.size() % std::size(kPlaces)];
    named.push_back(height);
    svg.text(x0 + (x1 - x0) * place, y0 + (y1 - y0) * place - 6, label_of(roof),
             {.fill = kInkSoft, .turn = slope * 180 / 3.14159265358979});
  }
}

// The names of those that take most time, where no other name stands.
void draw_points(Svg& svg, const std::vector<RoofPoint>& points, const Axis& x, const Axis& y) {
  constexpr std::size_t kNamed = 6;
  constexpr double kNameWidth = 160;
  const auto across = [&](const RoofPoint& point) { return x(point.flops / point.bytes); };
  const auto up = [&](const RoofPoint& point) { return y(point.flops / point.time_ns * 1e9); };
  const auto radius = [&](const RoofPoint& point) { return std::max(4.0, std::sqrt(point.time_ns / points[0].time_ns) * 13); };
  for (std::size_t i = 0; i < points.size(); ++i)
    svg.circle(across(points[i]), up(points[i]), radius(points[i]),
               Svg::slot_colour(static_cast<int>(std::min<std::size_t>(i, 7))),
               points[i].name + ": " + format_quantity(points[i].time_ns, "ns"));
  std::vector<std::pair<double, double>> names;
  for (const RoofPoint& point : points) {
    const std::pair place{across(point) + radius(point) + 5, up(point) + 4};
    const bool free = std::none_of(names.begin(), names.end(), [&](const auto& other) {
      return std::abs(other.first - place.first) < kNameWidth && std::abs(other.second - place.second) < kLabelHeight;
    });
    if (names.size() >= kNamed || !free) continue;
    names.push_back(place);
    svg.text(place.first, place.second, fit_pixels(point.name, kNameWidth), {.bold = true});
  }
}

}  // namespace

std::optional<std::string> plot_roofline(const ReportModel& model) {
  if (!model.roofline) return std::nullopt;
  const Roofline& line = *model.roofline;
  const Bounds bounds(line.roofs);
  if (!bounds.usable()) return std::nullopt;
  std::vector<RoofPoint> points;
  std::vector<double> intensities = {bounds.peak / bounds.slowest}, rates = {bounds.peak};
  for (const RoofPoint& point : line.points) {
    if (!(point.flops > 0 && point.bytes > 0 && point.time_ns > 0)) continue;
    points.push_back(point);
    intensities.push_back(point.flops / point.bytes);
    rates.push_back(point.flops / point.time_ns * 1e9);
  }
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });

  Svg svg(kRooflineWidth, kRooflineHeight, "Roofline", line.text);
  const double top = draw_title(svg, "Roofline", report_title(model) + "; point area: time; x: FLOP/byte", kRooflineWidth);
  const Frame frame{110, top, kRooflineWidth - kNames, kRooflineHeight - 36};
  const Extent xs = *extent_of(intensities), ys = *extent_of(rates);
  const Axis x{xs.low / 3, xs.high * 6, frame.left, frame.right, true};
  const Axis y{std::min(ys.low, bounds.slowest * xs.low) / 2, ys.high * 2.5, frame.bottom, frame.top, true};
  draw_y_axis(svg, y, frame, "flop/s");
  draw_x_axis(svg, x, frame, "");
  draw_compute_roofs(svg, line.roofs, bounds, x, y, frame);
  draw_memory_roofs(svg, line.roofs, bounds, x, y);
  draw_points(svg, points, x, y);
  return svg.finish();
}

}  // namespace aaco::report
