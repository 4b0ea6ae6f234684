#pragma once

#include "importers/database/process_ranks.h"
#include "importers/database/table_scan.h"

namespace aaco::importers::nsys {

// Process and thread of a serialised global id.
inline std::int64_t process_of(std::int64_t global_id) { return (global_id >> 24) & 0xFFFFFF; }
inline std::int64_t thread_of(std::int64_t global_id) { return global_id & 0xFFFFFF; }

// Host, GPUs, versions and what the profiler complained of. Never the environment, which may hold secrets.
core::Status read_machine(TableScan& scan);

// Processes with GPU work; who they are goes to the facts.
core::Result<ProcessRanks> read_ranks(TableScan& scan);

}  // namespace aaco::importers::nsys
