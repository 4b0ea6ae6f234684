#include "core/numbers.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/strings.h"

namespace aaco::core {
namespace {

template <class Number>
std::optional<Number> parse_whole(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

using Unit = std::pair<std::string_view, double>;

// `text` as a number and one of `units`; `bare` is the factor of a number without a unit.
template <std::size_t N>
std::optional<double> parse_with_unit(std::string_view text, const std::array<Unit, N>& units, double bare) {
  text = trim(text);
  const auto end = text.find_first_not_of("0123456789.+-eE");
  std::string_view number = text.substr(0, end);
  std::string_view unit = end == std::string_view::npos ? std::string_view() : trim(text.substr(end));
  const auto value = parse_f64(number);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  if (unit.empty()) return *value * bare;
  for (auto [name, factor] : units)
    if (name == unit) return *value * factor;
  return std::nullopt;
}

std::optional<std::int64_t> to_i64(std::optional<double> value) {
  if (!value || std::abs(*value) > 9.2e18) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*value));
}

std::string three_digits(double value, std::string_view unit) {
  const double size = std::abs(value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

}  // namespace

std::optional<std::int64_t> parse_i64(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return parse_whole<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  text = trim(text);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
    return parse_whole<std::uint64_t>(text.substr(2), 16);
  return parse_whole<std::uint64_t>(text);
}

std::optional<double> parse_f64(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_fixed(std::string_view text, int decimals) {
  text = trim(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const auto limit = static_cast<__int128>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
  __int128 value = 0;
  int seen = -1;  // digits after the point; -1 before it
  bool any = false;
  for (char c : text) {
    if (c == '.' && seen < 0) {
      seen = 0;
    } else if (c >= '0' && c <= '9') {
      any = true;
      if (seen >= decimals) continue;
      value = value * 10 + (c - '0');
      if (seen >= 0) ++seen;
      if (value > limit) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (!any) return std::nullopt;
  for (int i = seen < 0 ? 0 : seen; i < decimals; ++i) value *= 10;
  if (value > limit) return std::nullopt;
  return static_cast<std::int64_t>(negative ? -value : value);
}

std::optional<double> parse_ratio(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.back() == '%') {
    const auto value = parse_f64(text.substr(0, text.size() - 1));
    return value && std::isfinite(*value) ? std::optional(*value / 100) : std::nullopt;
  }
  const auto value = parse_f64(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
  constexpr std::array<Unit, 10> kUnits = {{{"ns", 1},
                                            {"us", 1e3},
                                            {"\xc2\xb5s", 1e3},
                                            {"\xce\xbcs", 1e3},
                                            {"ms", 1e6},
                                            {"s", 1e9},
                                            {"m", 60e9},
                                            {"min", 60e9},
                                            {"h", 3600e9},
                                            {"d", 86400e9}}};
  return to_i64(parse_with_unit(text, kUnits, 1e9));
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  constexpr std::array<Unit, 11> kUnits = {{{"B", 1},
                                            {"kB", 1e3},
                                            {"KB", 1e3},
                                            {"MB", 1e6},
                                            {"GB", 1e9},
                                            {"TB", 1e12},
                                            {"KiB", 1024.0},
                                            {"MiB", 1048576.0},
                                            {"GiB", 1073741824.0},
                                            {"TiB", 1099511627776.0},
                                            {"G", 1073741824.0}}};
  return to_i64(parse_with_unit(text, kUnits, 1));
}

std::string format_duration(double ns) {
  const double size = std::abs(ns);
  if (size < 999.5) return fmt::format("{:.0f} ns", ns);
  if (size < 999.5e3) return three_digits(ns / 1e3, "\u00B5s");
  if (size < 999.5e6) return three_digits(ns / 1e6, "ms");
  if (size < 120e9) return three_digits(ns / 1e9, "s");
  if (size < 7200e9) return three_digits(ns / 60e9, "min");
  return three_digits(ns / 3600e9, "h");
}

std::string format_bytes(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1023.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : three_digits(bytes, kUnits[unit]);
}

std::string format_percent(double ratio) {
  const double percent = ratio * 100;
  const double size = std::abs(percent);
  return fmt::format("{:.{}f} %", percent, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string format_confidence(double ratio) {
  if (ratio >= 0.995 && ratio < 1) return "> 99 %";
  if (ratio > 0 && ratio < 0.005) return "< 1 %";
  return fmt::format("{:.0f} %", ratio * 100);
}

std::string format_signed_percent(double ratio) {
  constexpr double kTimes = 9;  // a change from which on the ratio of the two values is easier to read
  if (ratio >= kTimes && std::isfinite(ratio)) {
    const double times = ratio + 1;
    return times < 1e6 ? fmt::format("{:.{}f} times", times, times < 99.95 ? 1 : 0) : fmt::format("{:.3g} times", times);
  }
  return (ratio > 0 ? "+" : "") + format_percent(ratio);
}

std::string format_signed_duration(double ns) { return (ns < 0 ? "-" : "+") + format_duration(std::abs(ns)); }

std::string format_count(double count) {
  if (std::abs(count) >= 1e10) return three_digits(count / 1e9, "G");
  if (std::abs(count) >= 1e7) return three_digits(count / 1e6, "M");
  std::string digits = fmt::format("{:.0f}", std::abs(count));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return (count < 0 ? "-" : "") + digits;
}

}  // namespace aaco::core
