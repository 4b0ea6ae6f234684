#include "cli/output/side_by_side_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/context.h"
#include "core/numbers.h"
#include "report/terminal.h"
#include "report/time_shares.h"

namespace aaco::cli {
namespace {

using analytics::calltree::DiffNode;
using analytics::tracediff::KernelPair;
using analytics::tracediff::KernelSide;

constexpr int kDefaultWidth = 100, kMinName = 24;
constexpr int kCount = 9, kSide = kCount + 2 * 9, kKernelColumns = 2 + 2 * kSide + 10 + 8, kTreeColumns = 2 + 2 * 20 + 11 + 9;

int name_room(const Context& context, int columns) {
  return std::max(kMinName, (context.width > 0 ? context.width : kDefaultWidth) - columns);
}

std::string signed_time(double ns) { return (ns < 0 ? "-" : "+") + core::format_duration(std::abs(ns)); }
std::string ratio_text(double delta, double base) { return base > 0 ? core::format_signed_percent(delta / base) : "new"; }
std::string left(const std::string& text, int width) { return report::fit_left(text, width); }
std::string right(const std::string& text, int width) { return report::fit_right(text, width); }

std::string side_text(const KernelSide& side) {
  if (side.calls <= 0) return right("-", kSide);
  return right(fmt::format("{:.4g} x", side.calls_per_step), kCount) + right(core::format_duration(side.mean_ns), 9) +
         right(core::format_duration(side.per_step_ns), 9);
}

std::string name_of(const std::vector<std::string>& names, int width) {
  if (names.empty()) return {};
  const std::string first = report::printable(report::names_for({names.front()}, width).front());
  return names.size() == 1 ? first : first + fmt::format(" and {} more", names.size() - 1);
}

void print_pair(const Context& context, const KernelPair& pair, int room) {
  const bool same = pair.match == analytics::tracediff::Match::name;
  const std::string title = same || pair.match == analytics::tracediff::Match::none
                                ? name_of(pair.names_a.empty() ? pair.names_b : pair.names_a, room)
                                : report::printable(pair.role);
  const std::string change = pair.b.calls <= 0 ? "gone" : ratio_text(pair.delta_ns, pair.a.per_step_ns);
  context.print("  " + left(title, room) + side_text(pair.a) + side_text(pair.b) + right(signed_time(pair.delta_ns), 10) +
                right(change, 8) + "\n");
  if (pair.match != analytics::tracediff::Match::role) return;
  context.print("    A: " + report::fit(name_of(pair.names_a, room + 60), room + 60) + "\n");
  context.print("    B: " + report::fit(name_of(pair.names_b, room + 60), room + 60) + "\n");
}

void print_kernels(const Context& context, const std::vector<KernelPair>& pairs, std::size_t rows) {
  const int room = name_room(context, kKernelColumns);
  context.print("\n  " + left("kernel", room) + right("A: count", kCount) + right("mean", 9) + right("total", 9) +
                right("B: count", kCount) + right("mean", 9) + right("total", 9) + right("change", 10) + "\n");
  for (std::size_t i = 0; i < std::min(rows, pairs.size()); ++i) print_pair(context, pairs[i], room);
  if (pairs.size() > rows) context.print(fmt::format("  {} more rows: use --rows, or --json for all\n", pairs.size() - rows));
}

void print_tree(const Context& context, const std::vector<DiffNode>& nodes, std::size_t rows) {
  const int room = name_room(context, kTreeColumns);
  context.print("\n  " + left("call path (device time, host time)", room) + right("A: device", 10) + right("host", 10) +
                right("B: device", 10) + right("host", 10) + right("change", 11) + "\n");
  // Paths that make up little of the change are left out; their children change even less.
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < nodes.size(); ++i) kept.push_back(i);
  const auto change = [&](std::size_t i) {
    return std::pair(std::abs(nodes[i].device_delta_ns), std::abs(nodes[i].host_delta_ns));
  };
  if (kept.size() > rows) {
    std::stable_sort(kept.begin(), kept.end(), [&](std::size_t x, std::size_t y) { return change(x) > change(y); });
    kept.resize(rows);
    std::sort(kept.begin(), kept.end());
  }
  const auto time = [](double ns) { return right(ns > 0 ? core::format_duration(ns) : "-", 10); };
  for (const std::size_t i : kept) {
    const DiffNode& node = nodes[i];
    const double delta = node.device_delta_ns != 0 || node.kernel ? node.device_delta_ns : node.host_delta_ns;
    const double base = node.device_delta_ns != 0 || node.kernel ? node.a.device_ns : node.a.host_ns;
    const std::string name = std::string(2 * std::min<std::size_t>(node.depth, 12), ' ') + report::printable(node.name);
    context.print("  " + left(name, room) + time(node.a.device_ns) + time(node.a.host_ns) + time(node.b.device_ns) +
                  time(node.b.host_ns) + right(signed_time(delta), 11) + right(ratio_text(delta, base), 9) + "\n");
  }
  if (nodes.size() > rows) context.print(fmt::format("  {} more paths: use --rows, or --json for all\n", nodes.size() - rows));
}

void print_side(const Context& context, const char* letter, const workflows::SideBySide::Side& side) {
  context.print(fmt::format("{}  {}  {}{}, kernel time {}{}\n", letter, report::printable(side.id),
                            side.devices.empty() ? "device unknown" : report::printable(side.devices),
                            side.has_steps ? fmt::format(", {} steps", side.steps) : ", no steps",
                            core::format_duration(side.kernel_ns), side.has_steps ? " per step" : ""));
}

}  // namespace

void print_side_by_side(const Context& context, const workflows::SideBySide& sides, std::size_t rows) {
  print_side(context, "A", sides.a);
  print_side(context, "B", sides.b);
  if (sides.kernels) print_kernels(context, *sides.kernels, rows);
  if (sides.tree) print_tree(context, *sides.tree, rows);
  context.print("\n");
  for (const auto& note : sides.notes) context.print("note: " + note + "\n");
  context.print("note: side by side only, no verdict; 'aaco diff A B' decides\n");
}

}  // namespace aaco::cli
