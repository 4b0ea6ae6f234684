#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace aaco::report {

// A series over days or versions with what was found in it.
struct HistoryPlot {
  std::string title, unit;  // unit: a published one ("ns"), or any other word
  bool in_days = false;     // x is days since the first point, else its number
  std::string first_label, last_label;
  std::vector<double> x, values;
  std::vector<std::size_t> steps;                      // first points of a new level
  std::vector<std::pair<std::size_t, double>> levels;  // first point of a stretch, its level
  struct Cone {
    double x = 0, value = 0, low = 0, high = 0;
  };
  std::optional<Cone> forecast;  // at its far end
  std::optional<double> limit;
};

// Lines of a chart for a terminal: axis, points, steps marked below. `width` columns, `height` lines of points.
std::vector<std::string> text_history(const HistoryPlot& plot, int width, int height, bool ascii = false);

std::string svg_history(const HistoryPlot& plot);

}  // namespace aaco::report
