#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serving/target.h"

namespace aaco::serving {

// A server's message without what only the request should hold, which some servers repeat: each secret, from its first 6
// characters on (messages are cut), and each run of at least 14 letters of a prompt of `body` (JSON of a request), or a whole
// shorter one. Both are found in any case, with other white space, and escaped for JSON, URLs and HTML. Secrets of less than 4
// characters stay: they cannot be told from other text. Cut to 2,000 characters.
std::string without_secrets(std::string message, const std::vector<std::string>& secrets, std::string_view body);

// Text that is no message, such as the id of a model, without each secret as a whole, in its own case. The same limit of length.
std::string without_whole_secrets(std::string text, const std::vector<std::string>& secrets);

// The secret parts of a header's value: "Bearer KEY" has KEY, "Basic dTpw" also the password in it.
std::vector<std::string> secrets_of_header(std::string_view value);
// Of all headers, of the query (as written, and without escapes) and of the proxy's credentials.
std::vector<std::string> secrets_of(const Target& target);

}  // namespace aaco::serving
