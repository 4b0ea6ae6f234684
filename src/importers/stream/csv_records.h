#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "importers/stream/trace_events.h"
#include "trace/source.h"

namespace aaco::importers {

using CsvFields = std::span<const std::string_view>;

struct CsvEnd {
  std::int64_t bytes = 0;    // read in all
  std::int64_t records = 0;  // handed out, the header among them
  bool terminated = true;    // the last record had its line end
  std::string trouble;       // why reading stopped before the end, or empty
};

// Hands each record of a CSV text to `visit`, the header first, in bounded memory: the text is taken apart by a thread of its own
// while `visit` works, on the caller's, on the records before. A byte order mark is passed over.
// `terminated`: the record had its line end; one without may be cut. A record above limits.value_bytes (an unclosed quote) ends
// the reading with `trouble`. Fails where the text is empty, reading fails, or `visit` does.
core::Result<CsvEnd> read_csv(trace::ByteSource& source,
                              const std::function<core::Status(const CsvFields& fields, bool terminated)>& visit,
                              const ReadLimits& limits = {});

}  // namespace aaco::importers
