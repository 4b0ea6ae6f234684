#pragma once

#include <cstdint>

#include "serving/client/exchange.h"

namespace aaco::serving {

bool worth_retrying(Outcome outcome);

// Retry-After in seconds, otherwise 100 ms doubled with each retry.
std::int64_t retry_delay_ns(const Exchange& exchange);

}  // namespace aaco::serving
