#include "report/text/markdown.h"

#include "report/quantity.h"
#include "report/terminal.h"

namespace aaco::report {
namespace {

bool in_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_markup(std::string_view text, std::size_t at) {
  if (text[at] == '_') return at == 0 || at + 1 == text.size() || !in_word(text[at - 1]) || !in_word(text[at + 1]);
  return std::string_view("\\`*[]|#!~@").find(text[at]) != std::string_view::npos;
}

}  // namespace

std::string markdown_text(std::string_view given) {
  const std::string text = with_micro_signs(printable(given));
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '<')
      out += "&lt;";
    else if (text[at] == '>')
      out += "&gt;";
    else if (text[at] == '&')
      out += "&amp;";
    else if (is_markup(text, at))
      (out += '\\') += text[at];
    else
      out += text[at];
  }
  return out;
}

}  // namespace aaco::report
