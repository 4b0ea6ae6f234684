#pragma once

#include <cstdint>
#include <optional>

namespace aaco::core {

// The largest resident set this process has had, bytes (getrusage: the kernel counts in KiB).
std::int64_t resident_peak_bytes();

// What is resident now, bytes; empty where /proc cannot be read.
std::optional<std::int64_t> resident_bytes();

}  // namespace aaco::core
