#pragma once

#include <cstdint>

namespace aaco::estimation {

// A count of layers, heads or bytes in floating point, exact below 2^53.
inline double real(std::int64_t value) { return static_cast<double>(value); }

}  // namespace aaco::estimation
