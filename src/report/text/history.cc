#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/extent.h"
#include "report/history_plot.h"
#include "report/quantity.h"
#include "report/terminal.h"

namespace aaco::report {
namespace {

constexpr int kLabel = 11;

// Column of a point; all points share the room evenly by x.
int column_of(double x, double low, double high, int columns) {
  if (!(high > low)) return columns / 2;
  return std::clamp(static_cast<int>(std::lround((x - low) / (high - low) * (columns - 1))), 0, columns - 1);
}

struct Grid {
  int columns, rows;
  std::vector<std::vector<std::string>> cells = std::vector<std::vector<std::string>>(
      static_cast<std::size_t>(rows), std::vector<std::string>(static_cast<std::size_t>(columns), " "));
  void put(int column, int row, const std::string& mark) {
    if (column < 0 || column >= columns || row < 0 || row >= rows) return;
    cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
  }
};

}  // namespace

std::vector<std::string> text_history(const HistoryPlot& plot, int width, int height, bool ascii) {
  std::vector<double> all = plot.values;
  if (plot.limit) all.push_back(*plot.limit);
  const auto range = extent_of(all);
  if (!range || plot.x.empty() || width < kLabel + 10 || height < 2) return {};
  const Extent domain = padded(*range, 0.04);
  const int columns = width - kLabel - 1;
  Grid grid{columns, height};
  const auto row_of = [&](double value) {
    return std::clamp(static_cast<int>(std::lround((domain.high - value) / (domain.high - domain.low) * (height - 1))), 0,
                      height - 1);
  };
  const auto [low, high] = std::minmax_element(plot.x.begin(), plot.x.end());
  if (plot.limit)
    for (int column = 0; column < columns; ++column) grid.put(column, row_of(*plot.limit), ascii ? "=" : "═");
  for (std::size_t i = 0; i < plot.levels.size(); ++i) {
    const std::size_t next = i + 1 < plot.levels.size() ? plot.levels[i + 1].first : plot.x.size() - 1;
    const int to = column_of(plot.x[std::min(next, plot.x.size() - 1)], *low, *high, columns);
    for (int column = column_of(plot.x[plot.levels[i].first], *low, *high, columns); column <= to; ++column)
      grid.put(column, row_of(plot.levels[i].second), ascii ? "-" : "─");
  }
  for (std::size_t i = 0; i < plot.values.size(); ++i)
    grid.put(column_of(plot.x[i], *low, *high, columns), row_of(plot.values[i]), ascii ? "*" : "•");
  std::vector<std::string> lines;
  for (int row = 0; row < height; ++row) {
    const double value = domain.high - (domain.high - domain.low) * row / (height - 1);
    const bool labelled = row == 0 || row == height - 1 || row == (height - 1) / 2;
    std::string line = fit_right(labelled ? format_quantity(value, plot.unit) : "", kLabel - 1, ascii) + (ascii ? " |" : " │");
    for (const std::string& cell : grid.cells[static_cast<std::size_t>(row)]) line += cell;
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  std::string marks(static_cast<std::size_t>(columns), ' ');
  for (const std::size_t step : plot.steps) marks[static_cast<std::size_t>(column_of(plot.x[step], *low, *high, columns))] = '^';
  marks.erase(marks.find_last_not_of(' ') + 1);
  if (!marks.empty()) lines.push_back(std::string(kLabel + 1, ' ') + marks);
  const std::string first = fit(plot.first_label, columns / 2 - 1, ascii), last = fit(plot.last_label, columns / 2 - 1, ascii);
  const int gap = std::max(1, columns - display_width(first) - display_width(last));
  lines.push_back(std::string(kLabel + 1, ' ') + first + std::string(static_cast<std::size_t>(gap), ' ') + last);
  return lines;
}

}  // namespace aaco::report
