#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <string>

#include "importers/importer.h"
#include "importers/stream/trace_events.h"

namespace aaco::importers {

// The events of a JSON document into `take`; what the document lacks goes into the result: malformed events, a cut, bytes behind
// its end. Fails where it has no event that could be read.
core::Result<DocumentEnd> import_events(trace::ByteSource& source, ImportResult& result,
                                        const std::function<core::Status(std::span<const TraceEvent>)>& take);

// The result of a file of this format, without rows.
ImportResult empty_result(const std::string& format);

}  // namespace aaco::importers
