#pragma once

#include <string>
#include <vector>

#include "core/environment.h"
#include "core/result.h"

namespace aaco::hardware::registry {

// Every *.yaml below a folder, sorted folder by folder, to a few levels.
core::Result<std::vector<std::string>> entry_files(const std::string& folder);

// Where the program's entries lie, and where the user's do.
std::string shipped_folder(const core::Paths& paths);
std::string own_folder(const core::Paths& paths);
// Not found where the program's are missing.
core::Status require_shipped(const core::Paths& paths);

}  // namespace aaco::hardware::registry
