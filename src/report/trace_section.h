#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class TextPage;
struct ReportModel;

// The timeline of a trace for the page: the whole at a resolution the page can hold, and stretches in more detail. Times count
// from the start of the trace.
struct TraceTimeline {
  struct Track {
    std::int64_t rank = 0;
    std::string kind;        // of the table timeline_levels
    std::int64_t place = 0;  // process, or device
    std::int64_t lane = 0;   // thread, or stream
    std::int64_t depth = 0;
  };
  struct Name {
    std::string text;
    std::string short_text;  // where there is no room for the whole; empty: the same
    std::string group;       // family of a kernel; empty: none
  };
  // An event, or short neighbours merged into one row.
  struct Row {
    std::uint32_t track = 0, name = 0;  // of the lists below
    std::uint32_t detail = 0;           // of the lists below; 0: none
    std::uint32_t link = 0;             // rows with one number belong together: a launch and its kernel. 0: none
    std::int64_t start_ns = 0, duration_ns = 0;
    std::int64_t event_count = 1, busy_ns = 0, longest_ns = 0;  // beyond one event
  };
  struct Layer {
    std::int64_t from_ns = 0, to_ns = 0;
    std::int64_t resolution_ns = 0;  // 0: every event
    std::vector<Row> rows;           // by track, then start
  };
  std::int64_t origin_ns = 0;  // on the session's home clock
  std::int64_t span_ns = 0;
  std::int64_t event_count = 0;
  std::vector<Track> tracks;
  std::vector<Name> names;
  std::vector<std::string> details;  // the first is empty
  std::vector<Layer> layers;         // the first spans the trace
};

core::Json to_json(const TraceTimeline& section);
void write_text(TextPage& page, const TraceTimeline& section, const ReportModel& model);

}  // namespace aaco::report
