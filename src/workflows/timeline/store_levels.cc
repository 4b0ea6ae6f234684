#include "workflows/timeline/trace_events.h"
#include "workflows/timeline_levels.h"

namespace aaco::workflows {

using analytics::levels::Plan;
using analytics::levels::Segment;
using analytics::levels::Track;

TimelineLevels::TimelineLevels(const Plan& plan, trace::NameTable& names, trace::Sink& sink)
    : wanted_(!plan.empty()),
      sink_(sink),
      stored_(names, sink),
      fold_(plan.resolutions(),
            [this](const Track& track, std::int64_t resolution_ns, const Segment& segment) { store(track, resolution_ns, segment); }),
      events_(names, EventSegments::Details::none,
              [this](const Track& track, const Segment& segment) { fold_.add(track, segment); }) {
  if (!wanted_) return;
  for (const auto kind : analytics::levels::kKinds) kinds_.push_back(sink.name(to_string(kind)));
}

void TimelineLevels::store(const Track& track, std::int64_t resolution_ns, const Segment& segment) {
  trace::TimelineLevelRow row;
  row.rank = track.rank;
  row.kind = kinds_[static_cast<std::size_t>(track.kind)];
  row.place = track.place;
  row.lane = track.lane;
  row.depth = track.depth;
  row.resolution_ns = resolution_ns;
  row.start_ns = segment.start_ns;
  row.end_ns = segment.end_ns;
  row.busy_ns = segment.busy_ns;
  row.event_count = segment.event_count;
  row.name = stored_(segment.name);
  row.longest_start_ns = segment.longest_start_ns;
  row.longest_ns = segment.longest_ns;
  sink_.add(row);
}

void TimelineLevels::finish() {
  events_.release();
  fold_.finish();
}

core::Status store_levels(const std::string& session_path, const Plan& plan, trace::Sink& sink,
                          const std::function<core::Status()>& go_on) {
  if (plan.empty()) return {};
  trace::NameTable names;
  TimelineLevels levels(plan, names, sink);
  AACO_TRY(read_trace_rows(
      session_path, names, EventSegments::Details::none, {}, [&](const auto& row) { levels.add(row); },
      [&](bool table_ended) {
        if (table_ended) levels.end_table();
        return go_on();
      }));
  levels.finish();
  return sink.status();
}

}  // namespace aaco::workflows
