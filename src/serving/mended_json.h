#pragma once

#include <string>
#include <string_view>

namespace aaco::serving {

// JSON of servers that bend the standard (RFC 8259): NaN, Infinity, -Infinity and numbers beyond a double outside of strings
// become null (Python's json writes them, e.g. for log probabilities), halves of surrogate pairs in strings U+FFFD (servers that
// cut a text by UTF-16 units). All else is as it was, valid or not.
std::string mended_json(std::string_view text);

}  // namespace aaco::serving
