#include "report/text/page.h"

#include <algorithm>
#include <array>

#include "report/quantity.h"

namespace aaco::report {
namespace {

constexpr int kNarrowest = 40;
constexpr int kWidest = 132;  // lines longer than this are hard to read

std::string_view code_of(Style style) {
  constexpr std::array<std::string_view, 11> kCodes = {"",         "\x1b[1m",  "\x1b[2m",  "\x1b[36m", "\x1b[33m", "\x1b[34m",
                                                       "\x1b[33m", "\x1b[36m", "\x1b[31m", "\x1b[35m", "\x1b[32m"};
  return kCodes[static_cast<std::size_t>(style)];
}

}  // namespace

TextPage::TextPage(const TextOptions& options)
    : width_(std::clamp(options.width, kNarrowest, kWidest)), colour_(options.colour), ascii_(!options.unicode) {}

std::string TextPage::clean(std::string_view text) const { return printable(text, ascii_); }

std::string TextPage::quantity(double value, std::string_view unit) const {
  std::string text = clean(format_quantity(value, unit));
  return ascii_ ? text : typographic(std::move(text));
}

std::string TextPage::interval(const trace::Interval& interval, std::string_view unit) const {
  std::string text = clean(format_interval(interval, unit));
  return ascii_ ? text : typographic(std::move(text));
}

std::string TextPage::value(const trace::MetricValue& metric) const {
  return quantity(metric.value, unit_of_metric(metric.id, metric.unit));
}

std::string TextPage::interval(const trace::MetricValue& metric) const {
  return metric.ci95 ? interval(*metric.ci95, unit_of_metric(metric.id, metric.unit)) : std::string();
}

std::string TextPage::styled(std::string_view text, Style style) const {
  if (!colour_ || style == Style::plain || text.empty()) return std::string(text);
  return std::string(code_of(style)) + std::string(text) + "\x1b[0m";
}

void TextPage::line(std::string_view finished) {
  while (finished.ends_with(' ')) finished.remove_suffix(1);
  out_.append(finished) += '\n';
}

void TextPage::rule() {
  std::string rule;
  for (int i = 0; i < width_; ++i) rule += ascii_ ? "-" : "\u2500";
  line(styled(rule, Style::dim));
}

void TextPage::heading(std::string_view title, std::string_view aside) {
  line();
  const std::string name = fit(title, width_, ascii_);
  const int room = width_ - display_width(name) - 2;
  std::string text = styled(name, Style::bold);
  if (!aside.empty() && display_width(aside) <= room)
    text += "  " + std::string(static_cast<std::size_t>(room - display_width(aside)), ' ') + styled(aside, Style::dim);
  line(text);
  rule();
}

void TextPage::paragraph(std::string_view text, int indent, Style style, std::string_view first) {
  std::string lead(first);
  const std::string blank(static_cast<std::size_t>(indent), ' ');
  lead = fit_left(lead.empty() ? blank : lead, indent, ascii_);
  const std::string shown = ascii_ ? clean(text) : with_micro_signs(clean(text));
  for (const std::string& words : wrap(shown, std::max(10, width_ - indent))) {
    line(lead + styled(words, style));
    lead = blank;
  }
}

void TextPage::named(std::string_view name, int room, std::string_view rest, Style style) {
  const std::string text = clean(name);
  if (display_width(text) <= room) return line("  " + styled(fit_left(text, room, ascii_), style) + std::string(rest));
  line("  " + styled(fit(text, width_ - 2, ascii_), style));
  line(std::string(static_cast<std::size_t>(room) + 2, ' ') + std::string(rest));
}

}  // namespace aaco::report
