#pragma once

#include "core/result.h"
#include "serving/client/channel.h"
#include "serving/fetch.h"

namespace aaco::serving {

// Over the route of the load; blocks the caller's thread. Fails only where the event loop does.
core::Result<Fetched> fetch(const Route& route, const FetchRequest& request);

}  // namespace aaco::serving
