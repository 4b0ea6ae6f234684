#include "importers/stream/event_import.h"

#include "importers/stream/damage.h"

namespace aaco::importers {

ImportResult empty_result(const std::string& format) {
  ImportResult result;
  result.account.source = format;
  result.facts = core::Json::object();
  return result;
}

core::Result<DocumentEnd> import_events(trace::ByteSource& source, ImportResult& result,
                                        const std::function<core::Status(std::span<const TraceEvent>)>& take) {
  AACO_ASSIGN(DocumentEnd end, read_trace_events(source, take));
  if (!end.has_events && end.complete)
    return core::fail(core::ErrorCode::invalid_input, source.name() + ": JSON document without an array of events (traceEvents)",
                      "import the trace as the profiler exported it");
  if (end.events == 0 && !end.complete)
    return core::fail(core::ErrorCode::invalid_input, source.name() + ": no complete event could be read (" + end.trouble + ")");
  if (end.malformed > 0) result.account.drop("malformed event", end.malformed);
  if (!end.complete)
    report_cut(result, source.name(), end.trouble + after_bytes(end.bytes),
               std::to_string(end.events) + " complete events before the truncation",
               "export the trace again, or copy the complete file");
  report_trailing(result, source.name(), end.trailing);
  return end;
}

}  // namespace aaco::importers
