#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "importers/importer.h"

namespace aaco::importers {

// Content of a CSV table of the ROCm profilers, for joining the tables of a folder.
enum class RocmTable : std::uint8_t {
  kernels,   // one line per dispatch
  counters,  // one line per dispatch and counter; dispatches of a separate pass
  calls,     // calls, ranges, copies, allocations
  facts,     // agents, statistics, samples, the machine
};

// Detected from the first bytes of a file (decompressed, as returned by read_head); empty: no such table.
std::optional<RocmTable> rocm_table_of(std::string_view head);

// How an importer of ROCm's profilers describes itself. `numbers_passes`: see ImporterInfo.
inline ImporterInfo rocm_info(std::string name, std::string title, bool database = false, bool numbers_passes = true) {
  return {std::move(name),
          std::move(title),
          "rocprof",
          database,
          Grouping::rocm,
          numbers_passes,
          "also trace kernels (rocprofv3 --kernel-trace), and import that file together with these"};
}

}  // namespace aaco::importers
