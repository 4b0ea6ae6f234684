#include "core/time_text.h"

#include <array>
#include <cctype>
#include <chrono>
#include <cmath>

#include "core/strings.h"

namespace aaco::core {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// Reads a text from its front.
struct Reader {
  std::string_view text;

  std::optional<std::int64_t> number(std::size_t fewest, std::size_t most) {
    std::size_t digits = 0;
    std::int64_t value = 0;
    while (digits < most && digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0)
      value = value * 10 + (text[digits++] - '0');
    if (digits < fewest) return std::nullopt;
    text.remove_prefix(digits);
    return value;
  }
  bool take(std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
  }
};

std::optional<std::int64_t> read_day(Reader& in) {
  const auto year = in.number(4, 4);
  if (!year || !in.take("-./")) return std::nullopt;
  const auto month = in.number(1, 2);
  if (!month || !in.take("-./")) return std::nullopt;
  const auto day = in.number(1, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *year < 1700 || *year > 2250) return std::nullopt;
  return std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * 86'400;
}

// Seconds and fraction of the day, in ns.
std::optional<std::int64_t> read_time(Reader& in) {
  const auto hour = in.number(1, 2);
  if (!hour || *hour > 24 || !in.take(":")) return std::nullopt;
  const auto minute = in.number(2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  std::int64_t ns = (*hour * 60 + *minute) * 60 * kNsPerSecond;
  if (!in.take(":")) return ns;
  const auto second = in.number(2, 2);
  if (!second || *second > 60) return std::nullopt;
  ns += *second * kNsPerSecond;
  if (!in.take(".,")) return ns;
  std::int64_t unit = kNsPerSecond / 10;
  bool any = false;
  while (const auto digit = in.number(1, 1)) {
    ns += *digit * unit;
    unit /= 10;
    any = true;
  }
  return any ? std::optional(ns) : std::nullopt;
}

// Seconds east of Greenwich; UTC where nothing is said.
std::optional<std::int64_t> read_zone(Reader& in) {
  while (in.take(" ")) {
  }
  if (in.text.empty()) return 0;
  if (in.text == "Z" || in.text == "z" || in.text == "UTC") {
    in.text = {};
    return 0;
  }
  const bool west = in.text.front() == '-';
  if (!in.take("+-")) return std::nullopt;
  const auto hours = in.number(2, 2);
  in.take(":");
  const auto minutes = in.number(2, 2);
  if (!hours || !minutes || *hours > 15 || *minutes > 59) return std::nullopt;
  const std::int64_t seconds = (*hours * 60 + *minutes) * 60;
  return west ? -seconds : seconds;
}

}  // namespace

std::optional<std::int64_t> parse_time_text(std::string_view text) {
  Reader in{trim(text)};
  const auto day = read_day(in);
  if (!day) return std::nullopt;
  if (in.text.empty()) return *day * kNsPerSecond;
  if (!in.take("T ")) return std::nullopt;
  while (in.take(" ")) {
  }
  const auto time = read_time(in);
  if (!time) return std::nullopt;
  const auto zone = read_zone(in);
  if (!zone || !in.text.empty()) return std::nullopt;
  return (*day - *zone) * kNsPerSecond + *time;
}

std::optional<std::int64_t> parse_epoch(double number) {
  constexpr double kFirst = 1e8, kLast = 1e10;  // seconds: 1973 and 2286
  if (!std::isfinite(number)) return std::nullopt;
  for (const double scale : std::array{1.0, 1e3, 1e6, 1e9})
    if (number >= kFirst * scale && number < kLast * scale) {
      const double ns = number / scale * 1e9;
      if (ns >= 9.2e18) return std::nullopt;
      return static_cast<std::int64_t>(ns);
    }
  return std::nullopt;
}

}  // namespace aaco::core
