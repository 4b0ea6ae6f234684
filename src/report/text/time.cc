#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/text/sections.h"
#include "report/time_shares.h"

namespace aaco::report {
namespace {

constexpr std::size_t kShares = 10;  // the long tail is in the page and in the tables

Style part_style(std::size_t index) { return static_cast<Style>(static_cast<int>(Style::part0) + static_cast<int>(index % 6)); }

constexpr std::size_t kFills = 8;  // distinct signs; the last one is of all parts without one of their own

std::string_view part_fill(std::size_t index, bool ascii) {
  constexpr std::array<std::string_view, kFills> kBlocks = {"\u2588", "\u2593", "\u2592", "\u2591",
                                                            "\u259A", "\u2571", "\u25AA", "\u00B7"};
  constexpr std::array<std::string_view, kFills> kLetters = {"#", "=", "+", ".", "%", "x", "/", "o"};
  return ascii ? kLetters[index] : kBlocks[index];
}

// The sign of each part: the largest have their own, in their order, those that fill no half column and the rest share one.
std::vector<std::size_t> fills_of(const std::vector<TimeShare>& parts, int width) {
  std::vector<std::size_t> largest(parts.size());
  std::iota(largest.begin(), largest.end(), 0);
  std::stable_sort(largest.begin(), largest.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].share_ratio > parts[b].share_ratio; });
  while (largest.size() > kFills || (largest.size() > 1 && 2 * parts[largest.back()].share_ratio * width < 1)) largest.pop_back();
  if (largest.size() == kFills && parts.size() > kFills) largest.pop_back();
  std::vector<std::size_t> fills(parts.size(), kFills - 1);
  std::sort(largest.begin(), largest.end());
  for (std::size_t i = 0; i < largest.size(); ++i) fills[largest[i]] = i;
  return fills;
}

// One bar of all parts, in proportion; each sign keeps at least one column, so that nothing vanishes.
void write_stack(TextPage& page, const std::vector<TimeShare>& parts, const std::vector<std::size_t>& fills) {
  const int width = page.width() - 2;
  std::array<double, kFills> shares{};
  for (std::size_t i = 0; i < parts.size(); ++i) shares[fills[i]] += std::clamp(parts[i].share_ratio, 0.0, 1.0);
  std::array<int, kFills> columns{};
  int used = 0;
  for (std::size_t i = 0; i < kFills; ++i) {
    if (std::find(fills.begin(), fills.end(), i) == fills.end()) continue;
    columns[i] = std::max(1, static_cast<int>(shares[i] * width + 0.5));
    used += columns[i];
  }
  for (; used > width; --used) {
    auto widest = std::max_element(columns.begin(), columns.end());
    if (*widest <= 1) break;
    --*widest;
  }
  std::string stack = "  ";
  for (std::size_t i = 0; i < kFills; ++i) {
    std::string segment;
    for (int c = 0; c < columns[i]; ++c) segment += part_fill(i, page.ascii());
    stack += page.styled(segment, part_style(i));
  }
  page.line(stack);
}

// key, name, [bar], share, time, [count]
int bar_room_of(const TextPage& page) { return page.width() >= 72 ? page.width() / 5 : 0; }
int count_room_of(const TextPage& page) { return page.width() >= 60 ? 9 : 0; }
int name_room_of(const TextPage& page) {
  const int bar_room = bar_room_of(page);
  return page.width() - 4 - 8 - 10 - (bar_room > 0 ? bar_room + 1 : 0) - count_room_of(page);
}

void write_row(TextPage& page, const TimeShare& share, std::string_view name, std::string_view key, Style style, double largest) {
  const int bar_room = bar_room_of(page), count_room = count_room_of(page);
  std::string row = "  " + page.styled(key, style) + " " + fit_left(page.clean(name), name_room_of(page), page.ascii());
  if (bar_room > 0)
    row += " " + page.styled(
                     fit_left(bar(largest > 0 ? share.share_ratio / largest : 0, bar_room, page.ascii()), bar_room, page.ascii()),
                     style);
  row += fit_right(format_quantity(share.share_ratio, "ratio"), 8, page.ascii()) +
         fit_right(page.quantity(share.total_ns, "ns"), 10, page.ascii());
  if (count_room > 0 && share.count > 0)
    row += page.styled(fit_right(core::format_count(static_cast<double>(share.count)) + (page.ascii() ? " x" : " \u00D7"),
                                 count_room, page.ascii()),
                       Style::dim);
  page.line(row);
}

std::string words_of(TimeWhole whole, std::int64_t devices) {
  if (whole == TimeWhole::trace && devices > 1) return "of the whole trace, sum over " + std::to_string(devices) + " GPUs";
  if (whole == TimeWhole::trace) return "of the whole trace";
  if (whole == TimeWhole::threads) return "of all threads together";
  if (whole == TimeWhole::active) return "of all threads together, without their sleep";
  return whole == TimeWhole::kernels ? "of total kernel time" : "per iteration";
}

void write_list(TextPage& page, std::string_view title, const std::vector<TimeShare>& all) {
  const std::vector<TimeShare> list = merged_by_name(all);
  if (list.empty()) return;
  page.line();
  const std::size_t shown = std::min(kShares, list.size());
  std::string name(title);
  if (shown < list.size())
    name += ", top " + std::to_string(shown) + " of " + core::format_count(static_cast<double>(list.size()));
  page.line("  " + page.styled(fit(name, page.width() - 2, page.ascii()), Style::dim));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) names.push_back(list[i].short_name.empty() ? list[i].name : list[i].short_name);
  names = names_for(names, name_room_of(page));
  for (std::size_t i = 0; i < shown; ++i) write_row(page, list[i], names[i], " ", Style::accent, list[0].share_ratio);
}

}  // namespace

void write_time(TextPage& page, const ReportModel& model) {
  if (model.parts.empty() && model.operators.empty() && model.nodes.empty() && model.kernels.empty()) return;
  double total_ns = 0;
  for (const TimeShare& part : model.parts) total_ns += part.total_ns;
  std::string whole = words_of(model.time_whole, model.time_devices);
  if (total_ns > 0) whole += ", " + page.quantity(total_ns, "ns");
  page.heading("Where the time went", whole);
  if (!model.parts.empty()) {
    const std::vector<std::size_t> fills = fills_of(model.parts, page.width() - 2);
    write_stack(page, model.parts, fills);
    for (std::size_t i = 0; i < model.parts.size(); ++i)
      write_row(page, model.parts[i], model.parts[i].name, part_fill(fills[i], page.ascii()), part_style(fills[i]), 1.0);
  }
  write_list(page, "Operator types", model.operators);
  write_list(page, "Nodes", model.nodes);
  write_list(page, "GPU kernels", model.kernels);
}

}  // namespace aaco::report
