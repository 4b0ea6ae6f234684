#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "server/message.h"

namespace aaco::server {

struct Target {
  std::vector<std::string> path;  // decoded segments; none is empty, "." or ".."
  Fields parameters;              // decoded
};

// The target of a request line in origin form: "/a/b?c=d". Refuses other forms, invalid escapes, control characters, encoded
// slashes, backslashes, empty and dot segments, too long ones and too many parameters.
core::Result<Target> parse_target(std::string_view text);

}  // namespace aaco::server
