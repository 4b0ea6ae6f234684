#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::stats {

// RFC 4648, section 4, with padding.
std::string to_base64(std::string_view bytes);
core::Result<std::string> from_base64(std::string_view text);

}  // namespace aaco::stats
