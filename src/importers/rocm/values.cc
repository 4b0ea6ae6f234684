#include "importers/rocm/values.h"

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::importers::rocm {

std::optional<std::int64_t> time_ns(std::string_view token) {
  constexpr std::size_t kSafeDigits = 18;
  if (!token.empty() && token.size() <= kSafeDigits) {
    std::int64_t value = 0;
    std::size_t at = 0;
    while (at < token.size() && token[at] >= '0' && token[at] <= '9') value = 10 * value + (token[at++] - '0');
    if (at == token.size()) return value;
  }
  auto value = core::parse_i64(token);
  if (!value) value = core::parse_fixed(token, 0);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<std::int64_t> agent_number(std::string_view token) {
  std::size_t digits = token.size();
  while (digits > 0 && token[digits - 1] >= '0' && token[digits - 1] <= '9') --digits;
  return token_i64(token.substr(digits));
}

std::optional<std::int64_t> count_of(std::string_view token) {
  const auto value = token_i64(token);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<std::int64_t> groups(std::optional<std::int64_t> items, std::optional<std::int64_t> group_size) {
  if (!items || !group_size || *group_size == 0) return std::nullopt;
  return *items / *group_size + (*items % *group_size != 0 ? 1 : 0);
}

std::optional<TimeSpan> time_span(std::string_view start, std::string_view end, const char*& why_not) {
  const auto first = time_ns(start);
  const auto last = time_ns(end);
  why_not = kNoTime;
  if (!first || !last || (*first == 0 && *last == 0)) return std::nullopt;
  why_not = kNegative;
  if (*last < *first) return std::nullopt;
  return TimeSpan{*first, *last};
}

std::string_view copy_kind(std::string_view direction) {
  const std::string lower = core::to_lower(direction.substr(0, 80));
  if (lower.find("memset") != std::string::npos || lower.find("fill") != std::string::npos) return "memset";
  return copy_direction_of(direction);
}

std::string domain_of(std::string_view domain) {
  const std::string lower = core::to_lower(domain.substr(0, 64));
  if (lower.find("roctx") != std::string::npos) return "marker";
  const std::string word = lower.substr(0, lower.find('_'));
  return word.empty() ? "other" : word;
}

void set_devices(trace::CopyRow& row, std::string_view kind, std::optional<std::int64_t> source,
                 std::optional<std::int64_t> target) {
  if (kind == "h2d" || kind == "h2h") source.reset();
  if (kind == "d2h" || kind == "h2h") target.reset();
  row.source_device = source;
  row.target_device = target;
  row.device = target ? *target : source.value_or(0);
  if (kind == "d2d" && source) row.device = *source;
}

}  // namespace aaco::importers::rocm
