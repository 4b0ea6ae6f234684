#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "core/result.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Compares two stored sessions of `aaco compiler`: `against` of kind "model" (docs/formats/compiler.md). Each side is an id, a
// path, "latest" or "tag:NAME" (the newest with the tag). Empty: neither is such a session. Fails with invalid_argument where one
// is and the other is not, invalid_input where a document is damaged.
core::Result<std::optional<core::Json>> diff_compiler_sessions(const std::string& here, const std::string& there,
                                                               const Services& services);

}  // namespace aaco::workflows
