#include <algorithm>

#include "core/numbers.h"
#include "core/strings.h"
#include "tracelake/bundle.h"
#include "workflows/timeline_window.h"

namespace aaco::workflows {
namespace {

using core::Json;

core::Error bad_range(const std::string& range, const std::string& why) {
  return {core::ErrorCode::invalid_argument,
          "invalid time range '" + range + "': " + why,
          "write FROM..TO as durations from the start of the trace, e.g. 12ms..15ms",
          {}};
}

// "12ms" from the start of the trace; empty: `otherwise`.
core::Result<std::int64_t> end_of_range(const std::string& text, std::int64_t otherwise, const std::string& range) {
  if (text.empty()) return otherwise;
  const auto ns = core::parse_duration_ns(text);
  if (!ns || *ns < 0) return tl::unexpected(bad_range(range, "'" + text + "' is not a duration"));
  if (*ns != 0 && core::parse_f64(text)) return tl::unexpected(bad_range(range, "'" + text + "' has no unit"));
  return *ns;
}

}  // namespace

TimelineExtent timeline_extent(const trace::SessionManifest& manifest) {
  TimelineExtent extent{INT64_MAX, INT64_MIN};
  for (const trace::Phase& phase : manifest.phases) {
    extent.start_ns = std::min(extent.start_ns, phase.start_ns);
    extent.end_ns = std::max(extent.end_ns, phase.end_ns);
  }
  return extent.start_ns <= extent.end_ns ? extent : TimelineExtent{};
}

core::Result<SessionTimeline> session_timeline(const std::string& session, const std::string& range, std::int64_t pixels,
                                               const core::Paths& paths) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(paths.sessions, session));
  AACO_ASSIGN(const trace::SessionManifest manifest, tracelake::read_manifest(path));
  const auto [start, end] = timeline_extent(manifest);
  const auto dots = range.find("..");
  if (dots == std::string::npos) return tl::unexpected(bad_range(range, "expected FROM..TO"));
  const auto part = [](const std::string& text) { return std::string(core::trim(text)); };
  AACO_ASSIGN(const std::int64_t from, end_of_range(part(range.substr(0, dots)), 0, range));
  AACO_ASSIGN(const std::int64_t to, end_of_range(part(range.substr(dots + 2)), std::max<std::int64_t>(1, end - start), range));
  if (to <= from) return tl::unexpected(bad_range(range, "TO must be greater than FROM"));
  SessionTimeline timeline{manifest.id.text, start, end - start, {}};
  AACO_ASSIGN(timeline.window, timeline_window(path, manifest, {start + from, start + to, pixels}));
  return timeline;
}

Json to_json(const SessionTimeline& timeline) {
  const TimelineWindow& window = timeline.window;
  const auto at = [&](std::int64_t time) { return time - timeline.origin_ns; };
  Json tracks = Json::array();
  for (const TimelineTrack& one : window.tracks) {
    Json rows = Json::array();
    for (const auto& row : one.rows) {
      Json item = Json::object(
          {{"start_ns", at(row.start_ns)}, {"duration_ns", row.end_ns - row.start_ns}, {"name", window.names->text(row.name)}});
      if (row.event_count != 1)
        item.set("event_count", row.event_count).set("busy_ns", row.busy_ns).set("longest_ns", row.longest_ns);
      if (row.correlation_id != 0) item.set("correlation_id", row.correlation_id);
      if (row.detail.value != 0) item.set("detail", window.names->text(row.detail));
      rows.push(std::move(item));
    }
    tracks.push(Json::object({{"rank", one.track.rank},
                              {"kind", to_string(one.track.kind)},
                              {"place", one.track.place},
                              {"lane", one.track.lane},
                              {"depth", one.track.depth},
                              {"rows", std::move(rows)}}));
  }
  return Json::object({{"schema", "aaco.timeline"},
                       {"schema_version", 1},
                       {"session", timeline.session_id},
                       {"origin_ns", timeline.origin_ns},
                       {"span_ns", timeline.span_ns},
                       {"from_ns", at(window.from_ns)},
                       {"to_ns", at(window.to_ns)},
                       {"resolution_ns", window.resolution_ns},
                       {"tracks", std::move(tracks)}});
}

}  // namespace aaco::workflows
