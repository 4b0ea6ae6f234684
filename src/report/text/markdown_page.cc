#include "report/text/markdown_page.h"

#include <algorithm>

#include "core/strings.h"
#include "report/quantity.h"
#include "report/terminal.h"
#include "report/text/markdown.h"

namespace aaco::report {

void MarkdownPage::heading(std::string_view title) {
  while (out.ends_with("\n\n")) out.pop_back();
  out.append("\n### ").append(title).append("\n\n");
}

void MarkdownPage::row(const std::vector<std::string>& cells) {
  out.append("| ").append(core::join(cells, " | ")).append(" |\n");
}

void MarkdownPage::paragraph(std::string_view text) { out.append(text).append("\n\n"); }

void MarkdownPage::item(std::string_view mark, std::string_view text) { out.append(mark).append(text).append("\n"); }

std::string markdown_code(std::string_view text) {
  std::string name = core::replace_all(fit(printable(text), kLongestCode), "|", "\u00A6");
  if (core::trim(name).empty()) return "(no name)";
  std::size_t longest = 0, run = 0;
  for (const char c : name) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  const std::string pad = longest > 0 ? " " : "";
  return fence + pad + name + pad + fence;
}

std::string markdown_quantity(double value, std::string_view unit) {
  return markdown_text(typographic(format_quantity(value, unit)));
}

std::string markdown_interval(const trace::Interval& ends, std::string_view unit) {
  return markdown_text(typographic(format_interval(ends, unit)));
}

}  // namespace aaco::report
