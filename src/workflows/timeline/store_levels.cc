#include <optional>
#include <vector>

#include "tracelake/lake.h"
#include "workflows/timeline/trace_events.h"
#include "workflows/timeline_window.h"

namespace aaco::workflows {

using analytics::levels::Plan;
using analytics::levels::Segment;
using analytics::levels::Track;
using core::Json;

namespace {

// Rows in the names of the sink that stores them.
class LevelRows {
 public:
  LevelRows(const trace::NameTable& names, trace::Sink& sink) : names_(names), sink_(sink) {
    for (const auto kind : analytics::levels::kKinds) kinds_.push_back(sink.name(to_string(kind)));
  }
  void add(const Track& track, std::int64_t resolution_ns, const Segment& segment) {
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
    row.name = stored(segment.name);
    row.longest_start_ns = segment.longest_start_ns;
    row.longest_ns = segment.longest_ns;
    sink_.add(row);
  }

 private:
  trace::NameId stored(trace::NameId name) {
    if (name.value >= stored_.size()) stored_.resize(names_.size());
    auto& known = stored_[name.value];
    if (!known) known = sink_.name(names_.text(name));
    return *known;
  }
  const trace::NameTable& names_;
  trace::Sink& sink_;
  std::vector<trace::NameId> kinds_;
  std::vector<std::optional<trace::NameId>> stored_;
};

}  // namespace

core::Status store_levels(const std::string& session_path, const Plan& plan, trace::Sink& sink,
                          const std::function<core::Status()>& go_on) {
  if (plan.empty()) return {};
  trace::NameTable names;
  LevelRows rows(names, sink);
  analytics::levels::LevelFold fold(plan.resolutions(), [&](const Track& track, std::int64_t resolution, const Segment& segment) {
    rows.add(track, resolution, segment);
  });
  const TraceEvents::Visit visit = [&](const Track& track, const Segment& segment) { fold.add(track, segment); };
  TraceEvents events(session_path, names, TraceEvents::Details::none, visit);
  AACO_TRY(events.read({}, go_on));
  fold.finish();
  return sink.status();
}

Json plan_json(const Plan& plan) { return Json::object({{"finest_ns", plan.finest_ns}, {"coarsest_ns", plan.coarsest_ns}}); }

Plan stored_plan(const trace::SessionManifest& manifest) {
  const Json& timeline = manifest.outcome.rows["timeline"];
  const Plan plan{timeline["finest_ns"].as_i64().value_or(0), timeline["coarsest_ns"].as_i64().value_or(0)};
  return plan.finest_ns > 0 && plan.coarsest_ns >= plan.finest_ns ? plan : Plan{};
}

}  // namespace aaco::workflows
