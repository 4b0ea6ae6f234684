#pragma once

#include <string>

#include "core/result.h"
#include "workflows/injected_delay.h"

namespace aaco::cli {

// A value of --inject-delay: "5%" of each call (at most 1000%), or a duration such as "200us" (at most 60s). Empty: no delay.
core::Result<workflows::InjectedDelay> parse_delay(const std::string& text);

}  // namespace aaco::cli
