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
#include "report/svg/time_tree.h"
#include "report/time_shares.h"

namespace aaco::report {
namespace {

constexpr std::size_t kBars = 20;
constexpr double kBarHeight = 24;
constexpr double kFlameRow = 26;
constexpr double kThinnest = 0.4;  // pixels; thinner frames are left out, their parents keep their width

struct FlameRow {
  Svg& svg;
  double left, width, total_ns, top;
  std::string whole;
};

void draw_frame(const FlameRow& flame, const TimeNode& node, double from_ns, int depth) {
  const double x = flame.left + from_ns / flame.total_ns * flame.width, width = node.total_ns / flame.total_ns * flame.width;
  if (width < kThinnest) return;
  const double y = flame.top + depth * kFlameRow;
  const std::string tip = node.name + ": " + typographic(core::format_duration(node.total_ns)) + ", " +
                          format_quantity(node.total_ns / flame.total_ns, "ratio") + " of the " + flame.whole;
  const bool patterned = depth <= 2 && width > 12;
  flame.svg.rect(x, y, std::max(kThinnest, width - (width > 3 ? 1 : 0)), kFlameRow - 2,
                 patterned ? Svg::slot_fill(node.slot) : std::string(Svg::slot_colour(node.slot)), tip);
  if (width > 40) flame.svg.text(x + 5, y + 16, fit_pixels(node.name, width - 10, 12), {.fill = Svg::ink_on_slot(node.slot)});
  double at = from_ns;
  // Children that overlap (kernels on several streams) may sum to more than their parent: they are drawn to its width.
  double sum = 0;
  for (const TimeNode& child : node.children) sum += child.total_ns;
  const double shrink = sum > node.total_ns && sum > 0 ? node.total_ns / sum : 1;
  for (TimeNode child : node.children) {
    child.total_ns *= shrink;
    draw_frame(flame, child, at, depth + 1);
    at += child.total_ns;
  }
}

int depth_of(const TimeNode& node) {
  int deepest = 0;
  for (const TimeNode& child : node.children) deepest = std::max(deepest, depth_of(child));
  return deepest + 1;
}

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

std::optional<std::string> plot_flame(const ReportModel& model) {
  TimeNode root = build_time_tree(model);
  if (root.children.empty() || !(root.total_ns > 0)) return std::nullopt;
  const double height = 60 + depth_of(root) * kFlameRow + 16;
  const std::string title = std::string("Flame graph of ") +
                            (root.name == "iteration" ? "one "
                             : root.name == "trace"   ? "the "
                                                      : "") +
                            root.name;
  Svg svg(kChartWidth, height, title, report_title(model));
  const double top = draw_title(
      svg, title, report_title(model) + "; width: time; from top to bottom: " + root.name + ", part, operator type, node, kernel",
      kChartWidth);
  draw_frame({svg, 16, kChartWidth - 32, root.total_ns, top, root.name}, root, 0, 0);
  return svg.finish();
}

}  // namespace aaco::report
