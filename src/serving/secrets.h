#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aaco::serving {

inline constexpr std::string_view kRemovedSecret = "(removed)";

// A server's message without what only the request should hold, which some servers repeat: each secret, from its first 6
// characters on (messages are cut), and each run of at least 16 characters of the prompt of `body` (JSON of a request). Secrets
// of less than 4 characters stay: they cannot be told from other text.
std::string without_secrets(std::string message, const std::vector<std::string_view>& secrets, std::string_view body);

// The secret part of a header's value: "Bearer KEY" has KEY.
std::string_view secret_of(std::string_view header_value);
// Of each (name, value); the views are of `headers`.
std::vector<std::string_view> secrets_of(const std::vector<std::pair<std::string, std::string>>& headers);

}  // namespace aaco::serving
