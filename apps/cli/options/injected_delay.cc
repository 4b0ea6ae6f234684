#include "cli/options/injected_delay.h"

#include "core/numbers.h"

namespace aaco::cli {
namespace {

constexpr double kMaxDelayRatio = 10;
constexpr std::int64_t kMaxDelayNs = 60'000'000'000;

}  // namespace

core::Result<workflows::InjectedDelay> parse_delay(const std::string& text) {
  workflows::InjectedDelay delay;
  if (text.empty()) return delay;
  if (text.ends_with('%')) {
    if (const auto ratio = core::parse_ratio(text); ratio && *ratio >= 0 && *ratio <= kMaxDelayRatio) {
      delay.ratio = *ratio;
      return delay;
    }
  } else if (const auto ns = core::parse_duration_ns(text); ns && *ns >= 0 && *ns <= kMaxDelayNs) {
    delay.ns = *ns;
    return delay;
  }
  return core::fail(core::ErrorCode::invalid_argument,
                    "invalid value '" + text + "' for '--inject-delay': expected a ratio such as 5% or a duration such as 200us");
}

}  // namespace aaco::cli
