#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "importers/importer.h"
#include "importers/stream/trace_events.h"

namespace aaco::importers::kineto {

// What the document says of the machine and the job beside its events, into result.facts, result.rank and the account's notes:
//   {"devices": [...], "distributed": {...}, "base_time_ns", "schema_version", "versions": {...}, "record_shapes", "trace_name",
//   ...}
void read_facts(const DocumentEnd& document, ImportResult& result);

// The rank in a file's name: "rank3", "rank_3", "rank-3" (the last one counts).
std::optional<std::int64_t> rank_in_name(std::string_view file_name);

}  // namespace aaco::importers::kineto
