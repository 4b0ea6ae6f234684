#pragma once

#include <string_view>

namespace aaco::hardware::secrets {

// True where a part of the text is as disordered as a generated secret. Hexadecimal digests, UUIDs, ULIDs, mangled symbols and
// names made of words are not.
bool has_random_part(std::string_view text);

}  // namespace aaco::hardware::secrets
