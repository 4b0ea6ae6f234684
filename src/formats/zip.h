#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// Zip archives (PKWARE APPNOTE 6.3: stored and deflated members, zip64) as .npz and .pt2 files use them.
namespace aaco::formats::zip {

struct Entry {
  std::string name;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint32_t crc32 = 0;
  std::int64_t compressed_bytes = 0;
  std::int64_t bytes = 0;
  std::int64_t header_offset = 0;  // of the member's local header
};

// The members named by the archive's directory. Fails with invalid_input where there is none, or it is damaged.
core::Result<std::vector<Entry>> list(std::string_view archive);
// A member's content, its checksum verified. Fails with exhausted beyond `limit_bytes`, unsupported for encryption and other
// methods.
core::Result<std::string> extract(std::string_view archive, const Entry& entry, std::int64_t limit_bytes);

}  // namespace aaco::formats::zip
