#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace aaco::core {

// IEEE 754 binary16 of a single, rounded to nearest even; too large becomes infinity, below the smallest normal becomes zero:
// denormals would distort times.
inline std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | (magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U));
  if (magnitude < 0x38800000U) return sign;
  const std::uint32_t rebased = magnitude - 0x38000000U;
  return static_cast<std::uint16_t>(sign | ((rebased + 0x0FFFU + (rebased >> 13 & 1U)) >> 13));
}

// bfloat16 of a finite single, rounded to nearest even.
inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

// The value of an IEEE 754 binary16, exact.
inline double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude =
      exponent == 31  ? (fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
      : exponent == 0 ? std::ldexp(fraction, -24)
                      : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

// The value of a bfloat16, exact.
inline float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace aaco::core
