#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "importers/importer.h"

namespace aaco::importers {

// What a CSV table of ROCm's profilers holds, for joining the tables of a folder.
enum class RocmTable : std::uint8_t {
  kernels,   // a line a dispatch
  counters,  // a line a dispatch and counter; the dispatches of a pass of its own
  calls,     // calls, ranges, copies, allocations
  facts,     // agents, statistics, samples, the machine
};

// By the first bytes of a file (decompressed, as read_head gives them); empty: no such table.
std::optional<RocmTable> rocm_table_of(std::string_view head);

// How an importer of ROCm's profilers describes itself. `numbers_passes`: see ImporterInfo.
inline ImporterInfo rocm_info(std::string name, std::string title, bool database = false, bool numbers_passes = true) {
  return {std::move(name),
          std::move(title),
          "rocprof",
          database,
          Grouping::rocm,
          numbers_passes,
          "trace the kernels too (rocprofv3 --kernel-trace), and import that file together with these"};
}

}  // namespace aaco::importers
