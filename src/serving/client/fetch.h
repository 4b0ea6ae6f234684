#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/result.h"
#include "serving/client/channel.h"
#include "serving/record.h"

namespace aaco::serving {

// What became of a request for a document.
struct Fetched {
  Outcome outcome = Outcome::ok;  // ok: a whole reply, whatever its status
  std::string detail;             // of a failure
  int status = 0;
  std::string content_type, location, body;
};

// GET of a path below the target's base path, over the route of the load: the same proxy, certificates and headers. Blocks the
// caller's thread, at most `timeout_ns`. Fails only where the event loop does.
core::Result<Fetched> fetch(const Route& route, std::string_view path, std::int64_t timeout_ns);

}  // namespace aaco::serving
