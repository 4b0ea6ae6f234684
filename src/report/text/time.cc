#include <algorithm>
#include <array>
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

std::string_view part_fill(std::size_t index, bool ascii) {
  constexpr std::array<std::string_view, 4> kBlocks = {"\u2588", "\u2593", "\u2592", "\u2591"};
  constexpr std::array<std::string_view, 4> kLetters = {"#", "=", "+", "."};
  return ascii ? kLetters[index % 4] : kBlocks[index % 4];
}

// One bar of all parts, in proportion; each keeps at least one column, so that nothing vanishes.
void write_stack(TextPage& page, const std::vector<TimeShare>& parts) {
  const int width = page.width() - 2;
  std::vector<int> columns;
  int used = 0;
  for (const TimeShare& part : parts) {
    columns.push_back(std::max(1, static_cast<int>(std::clamp(part.share_ratio, 0.0, 1.0) * width + 0.5)));
    used += columns.back();
  }
  for (; used > width && !columns.empty(); --used) {
    auto widest = std::max_element(columns.begin(), columns.end());
    if (*widest <= 1) break;
    --*widest;
  }
  std::string stack = "  ";
  for (std::size_t i = 0; i < parts.size() && static_cast<int>(i) < width; ++i) {
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
    write_stack(page, model.parts);
    for (std::size_t i = 0; i < model.parts.size(); ++i)
      write_row(page, model.parts[i], model.parts[i].name, part_fill(i, page.ascii()), part_style(i), 1.0);
  }
  write_list(page, "Operator types", model.operators);
  write_list(page, "Nodes", model.nodes);
  write_list(page, "GPU kernels", model.kernels);
}

}  // namespace aaco::report
