#pragma once

#include <cstdint>

#include "core/result.h"
#include "serving/client.h"
#include "serving/client/channel.h"

namespace aaco::serving {

// What Client::models answers, over its route.
core::Result<ModelList> list_models(const Route& route, std::int64_t timeout_ns);

}  // namespace aaco::serving
