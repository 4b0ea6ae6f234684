#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/numbers.h"
#include "core/strings.h"
#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

constexpr std::size_t kEnvironmentRows = 24;

std::string scalar(const core::Json& value) {
  if (value.is_string()) return std::string(value.text());
  if (value.is_null()) return {};
  return value.dump(-1);
}

// Leaves of a document as "host.kernel" -> "6.1.0", in its order; lists of plain values in one line.
void flatten(const core::Json& value, const std::string& path, std::vector<std::pair<std::string, std::string>>& out) {
  const auto nested = [](const core::Json& item) { return item.is_object() || item.is_array(); };
  if (value.is_object()) {
    for (const auto& [key, member] : value.members()) flatten(member, path.empty() ? key : path + "." + key, out);
  } else if (value.is_array() && std::any_of(value.items().begin(), value.items().end(), nested)) {
    for (std::size_t i = 0; i < value.items().size(); ++i) flatten(value.items()[i], path + "." + std::to_string(i), out);
  } else if (value.is_array()) {
    std::vector<std::string> words;
    for (const core::Json& item : value.items()) words.push_back(scalar(item));
    if (!words.empty()) out.emplace_back(path, core::join(words, ", "));
  } else if (std::string text = scalar(value); !text.empty()) {
    out.emplace_back(path, std::move(text));
  }
}

// A text that may go on with what to do next, on a line of its own.
void write_lines(TextPage& page, std::string_view text) {
  if (text.empty()) return;
  for (std::string_view part : core::split(text, '\n')) page.paragraph(core::trim(part), 4, Style::dim);
}

}  // namespace

void write_environment(TextPage& page, const ReportModel& model) {
  std::vector<std::pair<std::string, std::string>> facts;
  flatten(model.environment, "", facts);
  if (facts.empty() && model.session.command.empty()) return;
  page.heading("Environment");
  const bool wide = page.width() >= 60;
  const int room = !wide ? 4 : page.width() < 100 ? 30 : 44;
  if (!model.session.command.empty()) page.paragraph(core::join(model.session.command, " "), 4, Style::plain, "  $ ");
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (i == kEnvironmentRows) {
      page.line(page.styled("  and " + std::to_string(facts.size() - i) + " more in env.json", Style::dim));
      break;
    }
    const std::string name = page.clean(facts[i].first), value = page.clean(facts[i].second);
    const bool one_line = !wide && display_width(name) + display_width(value) + 4 <= page.width();
    const int columns = one_line ? display_width(name) : room;
    page.named(name, columns, "  " + fit(value, page.width() - columns - 4, page.ascii()), Style::dim);
  }
}

void write_accounts(TextPage& page, const ReportModel& model) {
  if (model.session.accounts.empty()) return;
  page.heading("Sources", page.width() >= 60 ? "read, kept, dropped" : "");
  const bool wide = page.width() >= 60;
  const int room = page.width() - 2 - 12 - (wide ? 33 : 0);
  for (const trace::Account& account : model.session.accounts) {
    const bool good = account.state == trace::Account::State::ok;
    const std::string row =
        "  " + fit_left(page.clean(account.source), room, page.ascii()) +
        page.styled(fit_left(trace::to_string(account.state), 12, page.ascii()), good ? Style::plain : Style::warning);
    std::string counts;
    for (const std::int64_t count : {account.read, account.kept, account.dropped_total()})
      counts += fit_right(core::format_count(static_cast<double>(count)), 11, page.ascii());
    page.line(wide ? row + counts : row);
    if (!wide)
      page.paragraph("read " + core::format_count(static_cast<double>(account.read)) + ", kept " +
                         core::format_count(static_cast<double>(account.kept)) + ", dropped " +
                         core::format_count(static_cast<double>(account.dropped_total())),
                     4, Style::dim);
    write_lines(page, account.reason);
    for (const auto& [why, count] : account.dropped)
      if (count > 0) page.paragraph(core::format_count(static_cast<double>(count)) + " dropped: " + why, 4, Style::dim);
    for (const std::string& note : account.notes) write_lines(page, note);
  }
}

void write_metrics(TextPage& page, const ReportModel& model) {
  if (model.metrics.empty()) return;
  page.heading("Metrics", page.width() >= 70 ? "value, 95 % CI" : "");
  const auto name_of = [](const trace::MetricValue& metric) {
    return metric.device ? metric.id + " [" + std::to_string(*metric.device) + "]" : metric.id;
  };
  int value_room = 11, widest = 16;
  for (const trace::MetricValue& metric : model.metrics) {
    value_room = std::max(value_room, display_width(page.value(metric)));
    widest = std::max(widest, display_width(page.clean(name_of(metric))));
  }
  value_room = std::min(value_room, page.width() / 2) + 1;
  const int room = std::min(widest, page.width() - 2 - value_room - (page.width() >= 70 ? 28 : 0));
  for (const trace::MetricValue& metric : model.metrics) {
    std::string row = fit_right(page.value(metric), value_room, page.ascii());
    if (metric.ci95 && page.width() >= 70) row += "   " + page.styled(page.interval(metric), Style::dim);
    page.named(name_of(metric), room, row);
  }
}

}  // namespace aaco::report
