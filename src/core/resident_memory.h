#pragma once

#include <cstdint>

namespace aaco::core {

// The largest resident set this process has had, bytes (getrusage: the kernel counts in KiB).
std::int64_t resident_peak_bytes();

}  // namespace aaco::core
