#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/extent.h"
#include "report/svg/svg.h"

namespace aaco::report {

inline constexpr double kChartWidth = 900;  // pixels, of most charts

// A linear or logarithmic map from values to pixels.
struct Axis {
  double low = 0, high = 1;  // values
  double from = 0, to = 1;   // pixels
  bool logarithmic = false;  // then low > 0
  double operator()(double value) const;
};

struct Frame {
  double left = 0, top = 0, right = 0, bottom = 0;  // pixels
};

// About `wanted` round values: steps of 1, 2 or 5 times a power of ten of the scaled value; whole decades on a logarithmic axis.
std::vector<double> axis_ticks(const Axis& axis, int wanted, double factor = 1);
// Grid lines and labels with units; `unit` is a published one ("ns").
void draw_y_axis(Svg& svg, const Axis& axis, const Frame& frame, std::string_view unit, int wanted = 5);
void draw_x_axis(Svg& svg, const Axis& axis, const Frame& frame, std::string_view unit, int wanted = 8);
// Title and a softer line below it; returns the height that is used up.
double draw_title(Svg& svg, std::string_view title, std::string_view aside, double width);

// The line through the points; of those that share a pixel column only first, least, greatest and last are kept. A value that is
// not finite leaves a gap.
std::string line_path(const std::vector<double>& xs, const std::vector<double>& ys, const Axis& x, const Axis& y);

}  // namespace aaco::report
