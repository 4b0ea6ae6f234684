#pragma once

#include <cstdint>
#include <string_view>

namespace aaco::core {

// CRC-32C (Castagnoli; RFC 3720, appendix B.4), by the processor's own instruction where it has one: gigabytes a second. Finds
// damage, not forgery.
std::uint32_t crc32c(std::string_view bytes);
// The same from a table, whatever the processor: a few hundred megabytes a second.
std::uint32_t crc32c_by_table(std::string_view bytes);

}  // namespace aaco::core
