#include "serving/client/retry.h"

#include <algorithm>

#include "core/numbers.h"

namespace aaco::serving {
namespace {

constexpr std::int64_t kMaxRetryDelayNs = 60'000'000'000;

}  // namespace

bool worth_retrying(Outcome outcome) {
  return outcome == Outcome::http_429 || outcome == Outcome::http_5xx || outcome == Outcome::refused || outcome == Outcome::reset;
}

std::int64_t retry_delay_ns(const Exchange& exchange) {
  if (const auto stated = core::parse_f64(exchange.retry_after()); stated && *stated >= 0 && *stated < 3600)
    return std::min(kMaxRetryDelayNs, static_cast<std::int64_t>(*stated * 1e9));
  return std::min(kMaxRetryDelayNs, std::int64_t{100'000'000} << std::min<std::int64_t>(10, exchange.record().retries));
}

}  // namespace aaco::serving
