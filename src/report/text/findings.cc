#include <algorithm>
#include <string>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

void write_statements(TextPage& page, std::string_view title, const std::vector<Statement>& list) {
  if (list.empty()) return;
  page.heading(title);
  int number = 0;
  for (const Statement& statement : list) {
    if (++number > 1) page.line();
    page.paragraph(statement.title, 5, Style::bold, "  " + std::to_string(number) + ". ");
    std::string facts;
    if (statement.gain_ratio)
      facts = "expected gain " + gain_text(*statement.gain_ratio, statement.gain_of, statement.gain_interval);
    if (statement.confidence_ratio)
      facts += (facts.empty() ? "" : ", ") + std::string("confidence ") + format_estimate(*statement.confidence_ratio);
    if (!facts.empty()) page.paragraph(facts, 5, Style::accent);
    page.paragraph(statement.text, 5);
    for (const std::string& one : statement.evidence)
      page.paragraph(one, 7, Style::dim, page.ascii() ? "     - " : "     \u00B7 ");
  }
}

}  // namespace

void write_why(TextPage& page, const ReportModel& model) {
  write_statements(page, "Why", model.why);
  write_statements(page, "What to do", model.advice);
}

void write_hardware(TextPage& page, const ReportModel& model) {
  if (!model.roofline) return;
  const Roofline& line = *model.roofline;
  page.heading("Hardware efficiency");
  page.paragraph(line.text);
  const auto reached = [&](double ratio, std::string_view of) {
    const int room = std::min(40, page.width() - 14 - static_cast<int>(of.size()));
    page.line("  " + page.styled(fit_left(bar(ratio, room, page.ascii()), room, page.ascii()), Style::accent) + " " +
              core::format_percent(ratio) + std::string(of));
  };
  if (line.reached_ratio) reached(*line.reached_ratio, line.measured_ratio ? " of the stated roofs" : "");
  if (line.measured_ratio) reached(*line.measured_ratio, " of the measured roofs");
  for (const Roof& roof : line.roofs) {
    const std::string rate = page.quantity(roof.per_second, roof.kind == Roof::Kind::compute ? "flop/s" : "bytes/s");
    page.paragraph(roof.name + ": " + rate + (roof.source.empty() ? "" : " (" + roof.source + ")"), 4, Style::dim,
                   page.ascii() ? "  - " : "  \u00B7 ");
  }
}

}  // namespace aaco::report
