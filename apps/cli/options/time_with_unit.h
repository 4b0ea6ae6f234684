#pragma once

#include <string>
#include <string_view>

#include "core/numbers.h"
#include "core/result.h"
#include "core/strings.h"

namespace aaco::cli {

// A short time as people write it, in ns. A bare number is refused: where the usual values are micro- or milliseconds, the
// seconds that it is elsewhere are not what is meant. 0 needs no unit.
inline core::Result<std::int64_t> time_with_unit(const std::string& text, const std::string& option, const std::string& example) {
  const auto ns = core::parse_duration_ns(text);
  if (!ns || *ns < 0)
    return core::fail(core::ErrorCode::invalid_argument,
                      "invalid value '" + text + "' for '" + option + "': expected a duration such as " + example);
  const auto number = std::string(core::trim(text));
  if (*ns != 0 && core::parse_f64(number))
    return core::fail(core::ErrorCode::invalid_argument, "invalid value '" + number + "' for '" + option + "': missing unit",
                      "write " + number + "us, " + number + "ms or " + number + "s");
  return *ns;
}

}  // namespace aaco::cli
