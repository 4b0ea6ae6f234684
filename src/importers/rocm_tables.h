#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

}  // namespace aaco::importers
