#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::hardware::secrets {

inline constexpr std::string_view kReplacement = "(removed)";

// A value of a command line or of the environment has the form or the disorder of a secret.
bool is_secret_value(std::string_view value);

struct CleanWords {
  std::vector<std::string> words;
  std::int64_t removed = 0;
};
// A command line without secrets: values of options that name one, credentials at the places where well-known programs expect
// them (`mysql -pX`, `curl -u user:X`), and words that look like one. A word that is a command line itself (`sh -c '...'`) is
// cleaned in the same way.
CleanWords clean_words(const std::vector<std::string>& words);

}  // namespace aaco::hardware::secrets
