#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "trace/source.h"

namespace aaco::importers {

// One event of a Chrome trace, its values as they stand in the text: strings with their escapes but without their quotes, numbers
// as tokens (so that nothing is rounded), `args` as JSON text. Empty: absent. Of a key that stands twice the last counts.
struct TraceEvent {
  std::string_view name, category, phase, timestamp, duration, process, thread, id, args;
};

// What a document held beside its events, and how it ended.
struct DocumentEnd {
  bool complete = false;                                     // the document was closed
  bool has_events = false;                                   // there was an array of events
  std::string trouble;                                       // why not
  std::int64_t bytes = 0;                                    // read in all
  std::int64_t events = 0;                                   // handed out
  std::int64_t malformed = 0;                                // elements that are no objects, or not well formed
  std::vector<std::pair<std::string, std::string>> members;  // key and JSON text of the members beside traceEvents
  std::int64_t trailing = 0;                                 // bytes behind the end of the document, white space aside
  std::int64_t large_members = 0;                            // members above 4 MiB, not kept
};

struct ReadLimits {
  std::size_t window_bytes = std::size_t{8} << 20;
  std::size_t value_bytes = std::size_t{64} << 20;  // a single value above this ends the reading as a cut would
};

// Hands the events of a Chrome trace (an array of events, or an object with the member "traceEvents") to `visit` in batches, in
// order, in bounded memory: windows of the text are taken apart by a thread of its own while `visit` works on the one before, on
// the caller's thread. Texts in a batch live until `visit` returns and have kSkimPadding readable bytes behind them. A
// document that is cut or damaged yields all events before the place. Fails where the text is no such document, reading fails, or
// `visit` does.
core::Result<DocumentEnd> read_trace_events(trace::ByteSource& source,
                                            const std::function<core::Status(std::span<const TraceEvent>)>& visit,
                                            const ReadLimits& limits = {});

}  // namespace aaco::importers
