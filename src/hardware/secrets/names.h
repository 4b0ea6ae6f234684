#pragma once

#include <string_view>

namespace aaco::hardware::secrets {

// What the name of an option, a variable or a field says about its value.
enum class NameKind {
  plain,      // nothing
  ambiguous,  // "key", "tokens", "cert": a secret unless the value is a number, a path or a plain word
  pin,        // "pin": opens a card or a phone, unless the value places threads ("0-3", "cores") or is a switch
  secret,     // "token", "api_key": a secret unless the value is a switch or a short number
  password,   // "password", "pw": a secret whatever it is
};
NameKind kind_of_name(std::string_view name);

// Whether `value`, given under a name of this kind, must be removed.
bool must_remove(NameKind kind, std::string_view value);

}  // namespace aaco::hardware::secrets
