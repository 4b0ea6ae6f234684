#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "trace/source.h"

namespace aaco::importers {

// How far a compressed file may expand before it is treated as a decompression bomb. Repetitive traces reach 1:100.
struct ExpansionLimits {
  std::int64_t always_allowed_bytes = std::int64_t{256} << 20;  // any ratio is allowed up to this size
  std::int64_t largest_ratio = 500;
  std::int64_t largest_bytes = std::int64_t{4} << 40;
};

// A file as a source; gzip and zstd (detected by magic number, not by name) are decompressed on a separate thread. Memory
// is bounded. A truncated or damaged compressed file yields the data before the damage and reports it in damage(); one that
// expands beyond the limits fails with exhausted.
core::Result<std::unique_ptr<trace::ByteSource>> open_file_source(const std::string& path, const ExpansionLimits& limits = {});

// The first bytes of the file, decompressed, for Importer::sniff; fewer if it is shorter or truncated.
inline constexpr std::size_t kHeadBytes = std::size_t{64} << 10;
core::Result<std::string> read_head(const std::string& path, std::size_t bytes = kHeadBytes);

}  // namespace aaco::importers
