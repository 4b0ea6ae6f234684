#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

}  // namespace aaco::importers
