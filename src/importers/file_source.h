#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "trace/source.h"

namespace aaco::importers {

// How far a compressed file may expand before it is taken for a bomb. Traces that repeat one pattern reach 1:100.
struct ExpansionLimits {
  std::int64_t always_allowed_bytes = std::int64_t{256} << 20;  // below this any ratio will do
  std::int64_t largest_ratio = 500;
  std::int64_t largest_bytes = std::int64_t{4} << 40;
};

// A file as a source; gzip and zstd (by their magic numbers, not the name) are seen through, on a thread of its own. Memory
// is bounded. A compressed file that is cut or damaged yields what could be decoded before and says so in damage(); one that
// expands beyond the limits fails with exhausted.
core::Result<std::unique_ptr<trace::ByteSource>> open_file_source(const std::string& path, const ExpansionLimits& limits = {});

// The first bytes of the file, decompressed, for Importer::sniff; fewer where it is shorter or cut.
inline constexpr std::size_t kHeadBytes = std::size_t{64} << 10;
core::Result<std::string> read_head(const std::string& path, std::size_t bytes = kHeadBytes);

}  // namespace aaco::importers
