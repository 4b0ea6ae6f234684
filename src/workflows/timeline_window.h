#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analytics/levels.h"
#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/session.h"

namespace aaco::workflows {

// The plan of the levels (workflows/timeline_levels.h) as session.json keeps it (outcome.rows.timeline), and read back; empty
// where there is none.
core::Json plan_json(const analytics::levels::Plan& plan);
analytics::levels::Plan stored_plan(const trace::SessionManifest& manifest);

struct TimelineRequest {
  std::int64_t from_ns = 0, to_ns = 0;  // on the session's home clock
  std::int64_t pixels = 1'000;          // what is shorter than a pixel is merged with its neighbours
  std::size_t max_rows = 4'000;         // of a track; more are merged further. 0: no limit
  std::size_t max_total_rows = 0;       // of all tracks, likewise
};

struct TimelineTrack {
  analytics::levels::Track track;
  std::vector<analytics::levels::Segment> rows;  // in order of their starts
};

struct TimelineWindow {
  std::int64_t from_ns = 0, to_ns = 0;
  std::int64_t resolution_ns = 0;  // shorter events are merged; 0: every event is there
  std::vector<TimelineTrack> tracks;
  std::shared_ptr<trace::NameTable> names;
  [[nodiscard]] std::size_t row_count() const;
};

// What a stretch of a session's timeline holds: from the levels of detail where the stretch is long, from the events where it is
// short. Everything that overlaps the stretch, cut nowhere.
core::Result<TimelineWindow> timeline_window(const std::string& session_path, const trace::SessionManifest& manifest,
                                             const TimelineRequest& request);

// A stretch of a stored session, with its times on the session's home clock.
struct SessionTimeline {
  std::string session_id;
  std::int64_t origin_ns = 0;  // start of the trace: ranges and printed times count from it
  std::int64_t span_ns = 0;
  TimelineWindow window;
};
// Where a session's timeline begins and ends.
struct TimelineExtent {
  std::int64_t start_ns = 0, end_ns = 0;
};
TimelineExtent timeline_extent(const trace::SessionManifest& manifest);
// `range`: "12ms..15ms" from the start of the trace; an end that is left out is the trace's.
core::Result<SessionTimeline> session_timeline(const std::string& session, const std::string& range, std::int64_t pixels,
                                               const core::Paths& paths);
core::Json to_json(const SessionTimeline& timeline);

}  // namespace aaco::workflows
