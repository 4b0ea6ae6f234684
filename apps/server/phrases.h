#pragma once

#include "core/phrasing.h"

namespace aaco::server {

// Errors of the library as clients of the interface need them: requests and parameters, not commands and options.
const core::Phrasing& rest_phrasing();

}  // namespace aaco::server
