#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/environment.h"
#include "hardware/secrets/command_words.h"

namespace aaco::hardware {

inline constexpr std::string_view kRemoved = secrets::kReplacement;

// The environment variables that can change what a workload does or how fast, by an allow-list of names and prefixes; nothing
// else is ever kept. Of those, a value that is or may hold a secret is replaced by kRemoved.
struct FilteredEnvironment {
  std::vector<std::pair<std::string, std::string>> variables;  // sorted by name
  std::int64_t removed = 0;                                    // values replaced
  std::int64_t unlisted = 0;                                   // variables left out
};
FilteredEnvironment filter_environment(const core::Environment& environment);

// The same environment with the values of secrets replaced, for readers that copy variables into other parts of a record.
core::Environment without_secrets(const core::Environment& environment);

// A command line without secrets, and how many values were removed from it.
secrets::CleanWords clean_command(const std::vector<std::string>& arguments);
std::vector<std::string> without_secrets(const std::vector<std::string>& arguments);

}  // namespace aaco::hardware
