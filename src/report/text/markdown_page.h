#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/metric.h"

namespace aaco::report {

inline constexpr int kLongestCode = 120;  // columns of a name

// A Markdown document that grows line by line. Text from data goes through markdown_text() or markdown_code() first.
class MarkdownPage {
 public:
  std::string out;
  void heading(std::string_view title);
  void row(const std::vector<std::string>& cells);
  void paragraph(std::string_view text);
  void item(std::string_view mark, std::string_view text);
};

// A name as code, with a fence longer than any run of backticks inside; '|' would end the table cell even there.
std::string markdown_code(std::string_view text);
std::string markdown_quantity(double value, std::string_view unit);
std::string markdown_interval(const trace::Interval& ends, std::string_view unit);

}  // namespace aaco::report
