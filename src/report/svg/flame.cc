#include <algorithm>
#include <string>
#include <utility>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/svg/axes.h"
#include "report/svg/plots.h"
#include "report/svg/time_tree.h"

namespace aaco::report {
namespace {

constexpr double kFlameRow = 26;
constexpr double kThinnest = 0.4;  // pixels; thinner frames are left out, their parents keep their width
constexpr int kUserSlot = 0, kKernelSlot = 4, kThreadSlot = 7;

// Searches the frames' titles: what does not match is dimmed, and the matching share of the whole is written. Without scripts the
// drawing is complete, and nothing says "Search".
constexpr std::string_view kSearchScript = R"js(
(function () {
  var root = document.documentElement, width = root.viewBox.baseVal.width;
  var frames = Array.prototype.filter.call(root.querySelectorAll('rect'), function (one) { return one.querySelector('title'); });
  function put(x) {
    var text = document.createElementNS(root.namespaceURI, 'text');
    text.setAttribute('x', x); text.setAttribute('y', 24); text.setAttribute('text-anchor', 'end'); text.setAttribute('fill', '#2f65ad');
    return root.appendChild(text);
  }
  var button = put(width - 16), found = put(width - 90);
  button.textContent = 'Search'; button.setAttribute('cursor', 'pointer'); button.setAttribute('tabindex', 0); button.setAttribute('role', 'button');
  function search(word) {
    var low = word.toLowerCase(), spans = [], total = 0, covered = 0, end = 0;
    frames.forEach(function (one) {
      var x = +one.getAttribute('x'), w = +one.getAttribute('width');
      var hit = low !== '' && one.querySelector('title').textContent.replace(/: [^:]*$/, '').toLowerCase().indexOf(low) >= 0;
      total = Math.max(total, w);
      if (hit) spans.push([x, x + w]);
      one.setAttribute('opacity', low === '' || hit ? 1 : 0.25);
    });
    spans.sort(function (a, b) { return a[0] - b[0]; }).forEach(function (one) {
      covered += Math.max(0, one[1] - Math.max(end, one[0])); end = Math.max(end, one[1]);
    });
    found.textContent = low === '' ? '' : '\u201c' + word + '\u201d: ' + spans.length + ' frames, ' + (100 * covered / (total || 1)).toFixed(1) + ' %';
  }
  function ask() { var word = prompt('Search for (part of a name; empty: reset)', ''); if (word !== null) search(word.trim()); }
  button.addEventListener('click', ask);
  button.addEventListener('keydown', function (event) { if (event.key === 'Enter') ask(); });
  root.addEventListener('keydown', function (event) { if (event.key === '/' || (event.ctrlKey && event.key === 'f')) { event.preventDefault(); ask(); } });
})();
)js";

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

std::optional<std::string> draw_flame(const TimeNode& root, const std::string& title, const std::string& aside,
                                      const std::string& whole, const ReportModel& model) {
  if (root.children.empty() || !(root.total_ns > 0)) return std::nullopt;
  Svg svg(kChartWidth, 60 + depth_of(root) * kFlameRow + 16, title, report_title(model));
  const double top = draw_title(svg, title, report_title(model) + "; width: time; " + aside, kChartWidth);
  draw_frame({svg, 16, kChartWidth - 32, root.total_ns, top, whole}, root, 0, 0);
  svg.script(kSearchScript);
  return svg.finish();
}

TimeNode wait_node(const OperatingSystem::Frame& frame, int depth) {
  TimeNode node{frame.name, frame.total_ns, depth <= 1 ? kThreadSlot : frame.kernel ? kKernelSlot : kUserSlot, {}};
  for (const auto& child : frame.children) node.children.push_back(wait_node(child, depth + 1));
  return node;
}

}  // namespace

std::optional<std::string> plot_flame(const ReportModel& model) {
  const TimeNode root = build_time_tree(model);
  const std::string one = root.name == "iteration" ? "one " : root.name == "trace" ? "the " : "";
  return draw_flame(root, "Flame graph of " + one + root.name,
                    "from top to bottom: " + root.name + ", part, operator type, node, kernel", root.name, model);
}

std::optional<std::string> plot_waits(const ReportModel& model) {
  const auto& system = model.sections.operating_system;
  if (!system || !system->waits) return std::nullopt;
  return draw_flame(wait_node(*system->waits, 0), "Off-CPU flame graph",
                    "from top to bottom: thread, functions of the program, functions of the kernel (light)", "time off the CPU",
                    model);
}

}  // namespace aaco::report
