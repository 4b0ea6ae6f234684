#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

// For tests: writes messages field by field.
namespace aaco::formats::protobuf {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  return out + static_cast<char>(value);
}
inline std::string number(std::uint32_t field, std::uint64_t value) { return varint(std::uint64_t{field} << 3U) + varint(value); }
inline std::string bytes(std::uint32_t field, std::string_view text) {
  return varint(std::uint64_t{field} << 3U | 2U) + varint(text.size()) + std::string(text);
}
inline std::string fixed64(std::uint32_t field, std::uint64_t value) {
  std::string out = varint(std::uint64_t{field} << 3U | 1U);
  for (int i = 0; i < 8; ++i, value >>= 8U) out += static_cast<char>(value & 0xFFU);
  return out;
}
inline std::string real(std::uint32_t field, double value) { return fixed64(field, std::bit_cast<std::uint64_t>(value)); }

}  // namespace aaco::formats::protobuf
