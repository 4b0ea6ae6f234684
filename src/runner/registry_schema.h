#pragma once

#include <map>
#include <string>

#include "core/result.h"
#include "runner/registry.h"

namespace aaco::runner {

// Reads one file's entries over what `out` holds: a key that is written replaces, one that is not stays.
core::Status read_entries(const std::string& path, std::map<std::string, ModelConfig>& out);
core::Status read_entries(const std::string& path, std::map<std::string, BackendConfig>& out);

// What no file gave and every entry needs: a model its path, a backend its provider.
core::Status check_complete(const std::map<std::string, ModelConfig>& models);
core::Status check_complete(const std::map<std::string, BackendConfig>& backends);

}  // namespace aaco::runner
