#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/numbers.h"
#include "core/strings.h"
#include "report/quantity.h"
#include "report/text_sections.h"

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

}  // namespace

void write_environment(TextPage& page, const ReportModel& model) {
  std::vector<std::pair<std::string, std::string>> facts;
  flatten(model.environment, "", facts);
  if (facts.empty() && model.session.command.empty()) return;
  page.heading("Environment");
  const int room = std::min(30, page.width() / 2 - 2);
  if (!model.session.command.empty()) page.paragraph(core::join(model.session.command, " "), 4, Style::plain, "  $ ");
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (i == kEnvironmentRows) {
      page.line(page.styled("  and " + std::to_string(facts.size() - i) + " more in env.json", Style::dim));
      break;
    }
    page.line("  " + page.styled(fit_left(page.clean(facts[i].first), room, page.ascii()), Style::dim) + "  " +
              fit(page.clean(facts[i].second), page.width() - room - 4, page.ascii()));
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
    if (!account.reason.empty()) page.paragraph(account.reason, 4, Style::dim);
    for (const auto& [why, count] : account.dropped)
      if (count > 0) page.paragraph(core::format_count(static_cast<double>(count)) + " dropped: " + why, 4, Style::dim);
    for (const std::string& note : account.notes) page.paragraph(note, 4, Style::dim);
  }
}

void write_metrics(TextPage& page, const ReportModel& model) {
  if (model.metrics.empty()) return;
  page.heading("Metrics", page.width() >= 70 ? "value, 95 % interval" : "");
  const int room = std::clamp(page.width() - 42, 16, 40);
  for (const trace::MetricValue& metric : model.metrics) {
    std::string name = metric.id;
    if (metric.device) name += " [" + std::to_string(*metric.device) + "]";
    std::string row = "  " + fit_left(page.clean(name), room, page.ascii()) + fit_right(page.value(metric), 12, page.ascii());
    if (metric.ci95 && page.width() >= 70) row += "   " + page.styled(page.interval(metric), Style::dim);
    page.line(row);
  }
}

}  // namespace aaco::report
