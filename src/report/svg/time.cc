#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/svg/axes.h"
#include "report/svg/plots.h"
#include "report/time_shares.h"

namespace aaco::report {
namespace {

constexpr std::size_t kBars = 20;
constexpr double kBarHeight = 24;

}  // namespace

std::optional<std::string> plot_operators(const ReportModel& model) {
  const std::vector<TimeShare> list = merged_by_name(model.operators);
  if (list.empty()) return std::nullopt;
  const std::size_t shown = std::min(kBars, list.size());
  const double height = 60 + static_cast<double>(shown) * kBarHeight + 20;
  Svg svg(kChartWidth, height, "Time by operator type", report_title(model));
  std::string aside = report_title(model) + "; share of one iteration";
  if (shown < list.size()) aside += fmt::format(", top {} of {}", shown, list.size());
  const double top = draw_title(svg, "Time by operator type", aside, kChartWidth);
  const double left = 220, right = kChartWidth - 170;
  const double largest = list[0].share_ratio > 0 ? list[0].share_ratio : 1;
  for (std::size_t i = 0; i < shown; ++i) {
    const double y = top + static_cast<double>(i) * kBarHeight,
                 width = std::max(1.0, std::max(0.0, list[i].share_ratio) / largest * (right - left));
    svg.text(left - 8, y + 15, fit_pixels(list[i].name, left - 24), {.anchor = "end"});
    svg.rect(left, y + 3, width, kBarHeight - 8, kAccent, list[i].name);
    svg.text(left + width + 8, y + 15, format_quantity(list[i].share_ratio, "ratio"), {.bold = true});
    svg.text(kChartWidth - 16, y + 15, typographic(core::format_duration(list[i].total_ns)), {.fill = kInkSoft, .anchor = "end"});
  }
  return svg.finish();
}

}  // namespace aaco::report
