#pragma once

#include <map>
#include <string>

#include "core/result.h"
#include "runner/registry.h"

namespace aaco::runner {

// Merges one file's entries, with or without a key `models:` or `backends:` around them, into `out`: present keys replace
// existing values, missing keys keep them.
core::Status read_entries(const std::string& path, std::map<std::string, ModelConfig>& out);
core::Status read_entries(const std::string& path, std::map<std::string, BackendConfig>& out);

// Marks entries without a required key: a path for a model, a provider for a backend.
void check_complete(std::map<std::string, ModelConfig>& models);
void check_complete(std::map<std::string, BackendConfig>& backends);

}  // namespace aaco::runner
