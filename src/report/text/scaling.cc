#include <fmt/format.h>

#include <algorithm>

#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {

// A sweep's points in the order they ran: label, [bar], items a second, over the first, median; then the interval.
void write_scaling(TextPage& page, const ReportModel& model) {
  const auto& points = model.extra["scaling"]["points"].items();
  if (points.empty()) return;
  double largest = 0;
  for (const core::Json& point : points) largest = std::max(largest, point["items_per_second"].as_f64().value_or(0));
  page.heading("How it scales", page.width() >= 60 ? "throughput, over the first point, median call" : "");
  const int bar_room = page.width() >= 72 ? page.width() / 5 : 0;
  const int name_room = std::max(8, page.width() - 2 - 15 - 9 - 11 - (bar_room > 0 ? bar_room + 1 : 0));
  const auto number = [&](const core::Json& value, std::string_view unit) {
    return value.as_f64() ? page.quantity(*value.as_f64(), unit) : std::string("-");
  };
  for (const core::Json& point : points) {
    const auto items = point["items_per_second"].as_f64();
    std::string row = "  " + fit_left(page.clean(point["label"].text()), name_room, page.ascii());
    if (!items) {
      page.line(row);
      page.paragraph(point.contains("error") ? std::string(point["error"].text()) : "not measured", 4, Style::warning);
      continue;
    }
    const double share = largest > 0 ? *items / largest : 0;
    if (bar_room > 0)
      row += " " + page.styled(fit_left(bar(share, bar_room, page.ascii()), bar_room, page.ascii()), Style::accent);
    const auto relative = point["relative_ratio"].as_f64();
    row += fit_right(page.quantity(*items, "items/s"), 15, page.ascii()) +
           fit_right(relative ? fmt::format("{:.2f}", *relative) + (page.ascii() ? " x" : " \u00D7") : "-", 9, page.ascii()) +
           fit_right(number(point["median_ns"], "ns"), 11, page.ascii());
    page.line(row);
  }
}

}  // namespace aaco::report
