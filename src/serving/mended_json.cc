#include "serving/mended_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

namespace aaco::serving {
namespace {

constexpr std::array<std::string_view, 3> kNoNumbers = {"NaN", "Infinity", "-Infinity"};
constexpr std::size_t kEscape = 6;  // \\uXXXX

// The unit of "\\uXXXX" at the start of `text`.
std::optional<std::uint32_t> unit_of(std::string_view text) {
  std::uint32_t unit = 0;
  if (!text.starts_with("\\u") || text.size() < kEscape) return std::nullopt;
  const auto read = std::from_chars(text.data() + 2, text.data() + kEscape, unit, 16);
  return read.ptr == text.data() + kEscape ? std::optional(unit) : std::nullopt;
}
bool is_high(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// Adds the escape at the start of `rest` and returns its length.
std::size_t take_escape(std::string_view rest, std::string& out) {
  const auto unit = unit_of(rest);
  std::size_t length = unit ? kEscape : std::size_t{2};
  const bool pair = unit && is_high(*unit) && is_low(unit_of(rest.substr(kEscape)).value_or(0));
  if (pair) length *= 2;
  const bool half = unit && !pair && (is_high(*unit) || is_low(*unit));
  out += half ? std::string_view("\\ufffd") : rest.substr(0, length);
  return std::min(length, rest.size());
}

std::size_t take_outside(std::string_view rest, std::string& out) {
  for (const std::string_view name : kNoNumbers)
    if (rest.starts_with(name)) {
      out += "null";
      return name.size();
    }
  const std::string_view number = rest.substr(0, std::min(rest.find_first_not_of("+-.0123456789eE"), rest.size()));
  double value = 0;
  const bool beyond = std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc::result_out_of_range;
  const std::size_t taken = std::max<std::size_t>(number.size(), 1);
  out += beyond ? std::string_view("null") : rest.substr(0, taken);
  return taken;
}

}  // namespace

std::string mended_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '"') in_string = !in_string;
    std::size_t taken = 1;
    if (in_string && c == '\\')
      taken = take_escape(text, out);
    else if (!in_string)
      taken = take_outside(text, out);
    else
      out += c;
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace aaco::serving
