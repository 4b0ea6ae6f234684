#pragma once

#include <string>
#include <vector>

#include "workflows/session_choice.h"

namespace aaco::cli {

// The texts of --where: NAME=VALUE each.
inline core::Result<workflows::SessionWhere> parse_where(const std::vector<std::string>& texts) {
  workflows::SessionWhere where;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return core::fail(core::ErrorCode::invalid_argument, "invalid value '" + text + "' for '--where': expected NAME=VALUE");
    where[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return where;
}

}  // namespace aaco::cli
