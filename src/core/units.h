#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace aaco::core {

using Nanoseconds = std::chrono::nanoseconds;

// A number of bytes; 1 KiB is 1024 of them.
struct Bytes {
  std::int64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

// A share, 0..1 (not clamped: measured shares may exceed 1 and are shown as such). Percent exists only in rendered text.
struct Ratio {
  double value = 0;
  auto operator<=>(const Ratio&) const = default;
};

constexpr double to_seconds(Nanoseconds duration) { return static_cast<double>(duration.count()) * 1e-9; }

}  // namespace aaco::core
