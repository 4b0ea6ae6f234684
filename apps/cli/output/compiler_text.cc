#include "cli/output/compiler_text.h"

#include <fmt/format.h>

#include "report/terminal.h"

namespace aaco::cli {

using core::Json;

std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : report::printable(text)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      out += c;
    else if (out.empty() || out.back() != '*')
      out += '*';
  }
  return out;
}

std::string merged(const std::string& known, const std::string& text) {
  if (known.empty() || known == text) return text;
  std::string out;
  std::size_t i = 0, j = 0;
  const auto number = [](const std::string& from, std::size_t& at) {
    const std::size_t start = at;
    if (from[at] == '*') return from.substr(at++, 1);
    while (at < from.size() && from[at] >= '0' && from[at] <= '9') ++at;
    return from.substr(start, at - start);
  };
  while (i < known.size() && j < text.size()) {
    if (known[i] == '*' || (known[i] >= '0' && known[i] <= '9')) {
      const std::string a = number(known, i), b = number(text, j);
      out += a == b ? a : "*";
    } else {
      out += known[i++];
      ++j;
    }
  }
  return out;
}

std::string shown(const Json& text) { return report::printable(text.text()); }

std::int64_t whole(const Json& number) { return number.as_i64().value_or(0); }

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string place_of(const Json& one, std::string_view key) {
  return shown(one[key]) + (one["within"].text().empty() ? "" : " (" + shown(one["within"]) + ")");
}

}  // namespace aaco::cli
