#pragma once

#include <cstdint>

namespace aaco::estimation {

inline double real(std::int64_t value) { return static_cast<double>(value); }

}  // namespace aaco::estimation
