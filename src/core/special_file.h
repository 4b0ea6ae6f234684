#pragma once

#include <string>

namespace aaco::core {

// Whether `path` is a device or a pipe: it takes bytes as they are, and a file that is renamed over it would replace the device.
// A link is replaced, not followed, except below /dev (/dev/stdout).
bool is_written_in_place(const std::string& path);

}  // namespace aaco::core
