#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/environment.h"

namespace aaco::hardware {

inline constexpr std::string_view kRemoved = "(removed)";

// The environment variables that can change what a workload does or how fast, by an allow-list of names and prefixes; nothing
// else is ever kept. Of those, a value that is or may hold a secret is replaced by kRemoved.
struct FilteredEnvironment {
  std::vector<std::pair<std::string, std::string>> variables;  // sorted by name
  std::int64_t removed = 0;                                    // values replaced
  std::int64_t unlisted = 0;                                   // variables left out
};
FilteredEnvironment filter_environment(const core::Environment& environment);

// True for names such as VLLM_API_KEY, HF_TOKEN, db-password.
bool names_secret(std::string_view name);
// True for values with the look of a credential: a user in a URL, a known token prefix, a private key, a long random string.
bool looks_secret(std::string_view value);

// A command line without the values of options that name secrets ("--api-key X", "TOKEN=X") or look like one.
std::vector<std::string> without_secrets(const std::vector<std::string>& arguments);

}  // namespace aaco::hardware
