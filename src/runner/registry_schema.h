#pragma once

#include <map>
#include <string>

#include "core/result.h"
#include "runner/registry.h"

namespace aaco::runner {

// Merges one file's entries into `out`: present keys replace existing values, missing keys keep them.
core::Status read_entries(const std::string& path, std::map<std::string, ModelConfig>& out);
core::Status read_entries(const std::string& path, std::map<std::string, BackendConfig>& out);

// Checks for required keys: a path for a model, a provider for a backend.
core::Status check_complete(const std::map<std::string, ModelConfig>& models);
core::Status check_complete(const std::map<std::string, BackendConfig>& backends);

}  // namespace aaco::runner
