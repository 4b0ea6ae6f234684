#pragma once

#include <string_view>

namespace aaco::core {

// True where an object of this JSON text has a key twice: readers that keep the first value and readers that keep the last one
// would take it for different requests. False for what is not JSON.
bool has_repeated_key(std::string_view json);

}  // namespace aaco::core
