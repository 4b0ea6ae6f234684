#pragma once

#include <string_view>

namespace aaco::hardware::secrets {

// A part of the text has the form of a credential: a token with a known beginning, a private key, a user with a password in an
// address, an authentication header, or an assignment to a name that calls for one.
bool has_secret_form(std::string_view text);

}  // namespace aaco::hardware::secrets
