#include <fmt/format.h>

#include <algorithm>

#include "report/quantity.h"
#include "report/text/markdown.h"
#include "report/text/markdown_page.h"
#include "report/text/sections.h"

namespace aaco::report {

// A sweep's points in the order they ran: label, [bar], items a second, over the first, median; then the interval.
void write_text(TextPage& page, const Scaling& section, const ReportModel&) {
  if (section.points.empty()) return;
  double largest = 0;
  for (const Scaling::Point& point : section.points)
    if (point.items_per_second) largest = std::max(largest, point.items_per_second->value);
  page.heading("Scaling", page.width() >= 60 ? "throughput, vs. first point, median latency" : "");
  const int bar_room = page.width() >= 72 ? page.width() / 5 : 0;
  const int name_room = std::max(8, page.width() - 2 - 15 - 9 - 11 - (bar_room > 0 ? bar_room + 1 : 0));
  for (const Scaling::Point& point : section.points) {
    std::string row = "  " + fit_left(page.clean(point.label), name_room, page.ascii());
    if (!point.items_per_second) {
      page.line(row);
      page.paragraph(point.error.value_or("not measured"), 4, Style::warning);
      continue;
    }
    const double items = point.items_per_second->value;
    const double share = largest > 0 ? items / largest : 0;
    if (bar_room > 0)
      row += " " + page.styled(fit_left(bar(share, bar_room, page.ascii()), bar_room, page.ascii()), Style::accent);
    const auto& relative = point.relative_ratio;
    row += fit_right(page.quantity(items, "items/s"), 15, page.ascii()) +
           fit_right(relative ? fmt::format("{:.2f}", *relative) + (page.ascii() ? " x" : " \u00D7") : "-", 9, page.ascii()) +
           fit_right(point.median_ns ? page.quantity(point.median_ns->value, "ns") : "-", 11, page.ascii());
    page.line(row);
  }
}

void write_markdown(MarkdownPage& page, const Scaling& section) {
  if (section.points.empty()) return;
  page.heading("Scaling");
  page.out += "| point | throughput | vs. first | median latency |\n|---|---:|---:|---:|\n";
  const auto cell = [](const std::optional<Scaling::Value>& value, std::string_view unit) {
    return value ? markdown_quantity(value->value, unit) : std::string("not measured");
  };
  for (const Scaling::Point& point : section.points)
    page.row({markdown_code(point.label), cell(point.items_per_second, "items/s"),
              point.relative_ratio ? markdown_text(fmt::format("{:.2f}", *point.relative_ratio)) + " \u00D7" : "",
              point.error ? markdown_text(*point.error) : cell(point.median_ns, "ns")});
}

}  // namespace aaco::report
