#pragma once

#include <string>

#include "core/result.h"

namespace aaco::tracelake {

// Who may read the sessions under a root: their owner (folders 0700, files 0600), or the root's group as well (2750, 0640).
enum class LakeMode { owner, group };

// Makes the root where it is missing and sets the mode of sessions to come; existing sessions keep theirs.
core::Status set_lake_mode(const std::string& root, LakeMode mode);

}  // namespace aaco::tracelake
