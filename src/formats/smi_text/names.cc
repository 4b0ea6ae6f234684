#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "core/numbers.h"
#include "core/strings.h"
#include "formats/smi_text/cells.h"

namespace aaco::formats::smi_text {
namespace {

std::optional<std::int64_t> date_ns(int year, int month, int day, std::string_view clock) {
  using namespace std::chrono;
  const year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day)));
  const auto parts = core::split(clock, ':');
  if (!date.ok() || year < 1971 || year > 2200 || parts.size() != 3) return std::nullopt;
  const auto hours = core::parse_i64(parts[0]);
  const auto minutes = core::parse_i64(parts[1]);
  const auto nanoseconds = core::parse_fixed(parts[2], 9);
  if (!hours || !minutes || !nanoseconds || *hours < 0 || *hours > 23 || *minutes < 0 || *minutes > 59 || *nanoseconds < 0 ||
      *nanoseconds > 61'000'000'000)
    return std::nullopt;
  const auto days = sys_days(date).time_since_epoch().count();
  return ((static_cast<std::int64_t>(days) * 24 + *hours) * 60 + *minutes) * 60'000'000'000 + *nanoseconds;
}

int month_of(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                        "jul", "aug", "sep", "oct", "nov", "dec"};
  const std::string lower = core::to_lower(word.substr(0, 3));
  for (std::size_t i = 0; i < kMonths.size(); ++i)
    if (kMonths[i] == lower) return static_cast<int>(i) + 1;
  return 0;
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 256)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (plain.empty() || plain.back() != '_')
      plain += '_';
  }
  if (!name.ends_with('%'))
    while (!plain.empty() && plain.back() == '_') plain.pop_back();
  return plain;
}

std::optional<std::int64_t> realtime_ns(std::string_view text) {
  text = core::trim(text);
  constexpr std::int64_t kEarliest = 31'536'000;  // 1971; below it is a time since some start
  if (const auto seconds = core::parse_fixed(text, 9)) return *seconds / 1'000'000'000 >= kEarliest ? seconds : std::nullopt;
  auto words = core::split_words(text);
  std::string joined;
  if (words.size() == 1 && text.find('T') != std::string_view::npos) {
    joined = core::replace_all(std::string(text), "T", " ");
    if (joined.back() == 'Z') joined.pop_back();
    words = core::split_words(joined);
  }
  if (words.size() == 2) {
    const auto date = core::split(words[0], words[0].find('/') != std::string_view::npos ? '/' : '-');
    if (date.size() != 3) return std::nullopt;
    const auto year = core::parse_i64(date[0]);
    const auto month = core::parse_i64(date[1]);
    const auto day = core::parse_i64(date[2]);
    if (!year || !month || !day || *year < 1971 || *year > 2200 || *month < 1 || *month > 12 || *day < 1 || *day > 31)
      return std::nullopt;
    return date_ns(static_cast<int>(*year), static_cast<int>(*month), static_cast<int>(*day), words[1]);
  }
  if (words.size() == 5 && month_of(words[1]) != 0) {
    const auto year = core::parse_i64(words[4]);
    const auto day = core::parse_i64(words[2]);
    if (!year || !day || *year < 1971 || *year > 2200 || *day < 1 || *day > 31) return std::nullopt;
    return date_ns(static_cast<int>(*year), month_of(words[1]), static_cast<int>(*day), words[3]);
  }
  return std::nullopt;
}

}  // namespace aaco::formats::smi_text
