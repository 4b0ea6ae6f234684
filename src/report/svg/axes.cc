#include "report/svg/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/quantity.h"

namespace aaco::report {
namespace {

// Digits after the point that ticks of this step need.
int decimals_for(double step) { return static_cast<int>(std::clamp(-std::floor(std::log10(step) + 1e-9), 0.0, 6.0)); }

std::vector<std::string> tick_labels(const std::vector<double>& ticks, const Axis& axis, std::string_view unit) {
  std::vector<std::string> labels;
  if (axis.logarithmic) {
    for (const double tick : ticks) {
      const UnitScale scale = scale_for(tick, unit);
      const double value = tick / scale.factor;
      labels.push_back(group_digits(value, decimals_for(value)) + (scale.unit.empty() ? "" : " " + scale.unit));
      labels.back() = typographic(labels.back());
    }
    return labels;
  }
  const UnitScale scale = scale_for(std::max(std::abs(axis.low), std::abs(axis.high)), unit);
  const double step = ticks.size() > 1 ? (ticks[1] - ticks[0]) / scale.factor : 1;
  for (const double tick : ticks)
    labels.push_back(
        typographic(group_digits(tick / scale.factor, decimals_for(step)) + (scale.unit.empty() ? "" : " " + scale.unit)));
  return labels;
}

}  // namespace

double Axis::operator()(double value) const {
  const double place = logarithmic ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low))
                                   : (value - low) / (high > low ? high - low : 1);
  return from + place * (to - from);
}

std::vector<double> axis_ticks(const Axis& axis, int wanted, double factor) {
  std::vector<double> out;
  if (axis.logarithmic) {
    for (double power = std::ceil(std::log10(axis.low) - 1e-9); power <= std::log10(axis.high) + 1e-9; ++power)
      out.push_back(std::pow(10.0, power));
    return out;
  }
  const double low = axis.low / factor, high = axis.high / factor;
  if (!(high > low)) return {axis.low};
  const double raw = (high - low) / std::max(1, wanted), power = std::pow(10.0, std::floor(std::log10(raw))), ratio = raw / power;
  const double step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && out.size() < 100; ++i)
    out.push_back(i * step * factor);
  return out;
}

void draw_y_axis(Svg& svg, const Axis& axis, const Frame& frame, std::string_view unit, int wanted) {
  const auto ticks = axis_ticks(axis, wanted, scale_for(std::max(std::abs(axis.low), std::abs(axis.high)), unit).factor);
  const auto labels = tick_labels(ticks, axis, unit);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    svg.line(frame.left, axis(ticks[i]), frame.right, axis(ticks[i]), kGridLine);
    svg.text(frame.left - 8, axis(ticks[i]) + 4, labels[i], {.fill = kInkSoft, .anchor = "end"});
  }
}

void draw_x_axis(Svg& svg, const Axis& axis, const Frame& frame, std::string_view unit, int wanted) {
  const auto ticks = axis_ticks(axis, wanted, scale_for(std::max(std::abs(axis.low), std::abs(axis.high)), unit).factor);
  const auto labels = tick_labels(ticks, axis, unit);
  svg.line(frame.left, frame.bottom, frame.right, frame.bottom, kInkSoft);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    svg.line(axis(ticks[i]), frame.bottom, axis(ticks[i]), frame.bottom + 4, kInkSoft);
    svg.text(axis(ticks[i]), frame.bottom + 18, labels[i], {.fill = kInkSoft, .anchor = "middle"});
  }
}

double draw_title(Svg& svg, std::string_view title, std::string_view aside, double width) {
  svg.text(16, 26, fit_pixels(title, width - 32, 16), {.size = 16, .bold = true});
  if (aside.empty()) return 40;
  svg.text(16, 45, fit_pixels(aside, width - 32, 12), {.fill = kInkSoft});
  return 60;
}

std::string line_path(const std::vector<double>& xs, const std::vector<double>& ys, const Axis& x, const Axis& y) {
  std::string out;
  bool pen = false, open = false;
  double column = 0, least = 0, greatest = 0, last = 0;
  const auto flush = [&] {
    if (!open) return;
    if (least != greatest)
      out += fmt::format("L{} {}L{} {}", svg_number(column), svg_number(least), svg_number(column), svg_number(greatest));
    out += fmt::format("L{} {}", svg_number(column), svg_number(last));
    open = false;
  };
  for (std::size_t i = 0; i < std::min(xs.size(), ys.size()); ++i) {
    if (!std::isfinite(ys[i])) {
      flush();
      pen = false;
      continue;
    }
    const double px = std::round(x(xs[i]) * 2) / 2, py = y(ys[i]);
    if (!pen) {
      out += fmt::format("M{} {}", svg_number(px), svg_number(py));
      pen = open = true;
      column = px;
      least = greatest = last = py;
    } else if (open && px == column) {
      least = std::min(least, py);
      greatest = std::max(greatest, py);
      last = py;
    } else {
      flush();
      open = true;
      column = px;
      least = greatest = last = py;
    }
  }
  flush();
  return out;
}

}  // namespace aaco::report
