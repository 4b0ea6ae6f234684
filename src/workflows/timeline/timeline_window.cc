#include "workflows/timeline_window.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tracelake/lake.h"
#include "workflows/timeline/trace_events.h"

namespace aaco::workflows {
namespace {

using analytics::levels::Kind;
using analytics::levels::LevelFold;
using analytics::levels::Plan;
using analytics::levels::Segment;
using analytics::levels::Track;

using Tracks = std::map<Track, std::vector<Segment>>;

std::optional<Kind> kind_from(std::string_view text) {
  for (const Kind kind : analytics::levels::kKinds)
    if (to_string(kind) == text) return kind;
  return std::nullopt;
}

Track track_of(const trace::TimelineLevelRow& row, Kind kind) { return {row.rank, kind, row.place, row.lane, row.depth}; }

// Calls visit(track, segment) for the rows of a level.
template <class Visit>
core::Status read_level(const std::string& path, trace::NameTable& names, std::int64_t resolution_ns, tracelake::Condition where,
                        const Visit& visit) {
  where.between.push_back({"resolution_ns", resolution_ns, resolution_ns});
  return tracelake::scan_where<trace::TimelineLevelRow>(
      path, names, where, {}, [&](std::span<const trace::TimelineLevelRow> rows) -> core::Status {
        for (const auto& row : rows) {
          const auto kind = kind_from(names.text(row.kind));
          if (!kind) continue;  // of a newer version
          visit(
              track_of(row, *kind),
              Segment{
                  row.start_ns, row.end_ns, row.busy_ns, row.event_count, row.name, row.longest_start_ns, row.longest_ns, 0, {}});
        }
        return {};
      });
}

// Events, those that began before the window included: long ones stand in the finest level, short ones began not long before.
core::Status read_events(const std::string& path, const Plan& plan, const TimelineRequest& request, trace::NameTable& names,
                         Tracks& tracks) {
  const auto keep = [&](const Track& track, const Segment& segment) {
    if (segment.end_ns >= request.from_ns && segment.start_ns <= request.to_ns) tracks[track].push_back(segment);
  };
  EventSegments events(names, EventSegments::Details::all, keep);
  tracelake::Between starts{"start_ns", INT64_MIN, request.to_ns};
  if (!plan.empty()) {
    // A call's depth is right once all that encloses it is known: a finest resolution earlier than what is kept.
    const std::int64_t first = request.from_ns - 2 * plan.finest_ns;
    AACO_TRY(read_level(path, names, plan.finest_ns,
                        {{{"start_ns", INT64_MIN, first - 1}, {"end_ns", first + 1, INT64_MAX}}, "event_count = 1"},
                        [&](const Track& track, const Segment& segment) {
                          events.seed(track, segment.end_ns);
                          keep(track, segment);
                        }));
    starts.low = first;
  }
  return read_trace_rows(
      path, names, EventSegments::Details::all, {{starts}, {}}, [&](const auto& row) { events.add(row); },
      [&](bool table_ended) {
        if (table_ended) events.release();
        return core::Status();
      });
}

void sort_rows(Tracks& tracks) {
  const auto earlier = [](const Segment& a, const Segment& b) { return a.start_ns < b.start_ns; };
  for (auto& [track, rows] : tracks)
    if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::stable_sort(rows.begin(), rows.end(), earlier);
}

// The same at a coarser resolution.
std::vector<Segment> folded(const Track& track, const std::vector<Segment>& rows, std::int64_t resolution_ns) {
  std::vector<Segment> out;
  LevelFold fold({resolution_ns}, [&](const Track&, std::int64_t, const Segment& segment) { out.push_back(segment); });
  for (const Segment& row : rows) fold.add(track, row);
  fold.finish();
  return out;
}

constexpr std::size_t kMinRows = 16;  // a track at the coarsest possible resolution has fewer

bool too_many(const Tracks& tracks, const TimelineRequest& request) {
  std::size_t total = 0, most = 0;
  for (const auto& [track, rows] : tracks) {
    total += rows.size();
    most = std::max(most, rows.size());
  }
  return (request.max_rows > 0 && most > std::max(request.max_rows, kMinRows)) ||
         (request.max_total_rows > 0 && total > std::max(request.max_total_rows, kMinRows * tracks.size()));
}

}  // namespace

core::Json plan_json(const Plan& plan) {
  return core::Json::object({{"finest_ns", plan.finest_ns}, {"coarsest_ns", plan.coarsest_ns}});
}

Plan stored_plan(const trace::SessionManifest& manifest) {
  const core::Json& timeline = manifest.outcome.rows["timeline"];
  const Plan plan{timeline["finest_ns"].as_i64().value_or(0), timeline["coarsest_ns"].as_i64().value_or(0)};
  return plan.finest_ns > 0 && plan.coarsest_ns >= plan.finest_ns ? plan : Plan{};
}

std::size_t TimelineWindow::row_count() const {
  std::size_t count = 0;
  for (const TimelineTrack& track : tracks) count += track.rows.size();
  return count;
}

core::Result<TimelineWindow> timeline_window(const std::string& session_path, const trace::SessionManifest& manifest,
                                             const TimelineRequest& request) {
  if (request.to_ns <= request.from_ns || request.pixels <= 0)
    return core::fail(core::ErrorCode::invalid_argument, "empty time range");
  const Plan plan = stored_plan(manifest);
  const std::int64_t pixel_ns = std::max<std::int64_t>(1, (request.to_ns - request.from_ns) / request.pixels);
  TimelineWindow window{request.from_ns, request.to_ns, plan.best(pixel_ns), {}, std::make_shared<trace::NameTable>()};
  Tracks tracks;
  if (window.resolution_ns == 0) {
    AACO_TRY(read_events(session_path, plan, request, *window.names, tracks));
  } else {
    AACO_TRY(read_level(session_path, *window.names, window.resolution_ns,
                        {{{"start_ns", INT64_MIN, request.to_ns}, {"end_ns", request.from_ns, INT64_MAX}}, {}},
                        [&](const Track& track, const Segment& segment) { tracks[track].push_back(segment); }));
  }
  sort_rows(tracks);
  for (std::int64_t next = pixel_ns; too_many(tracks, request); next *= 2) {
    if (next <= window.resolution_ns) continue;
    for (auto& [track, rows] : tracks) rows = folded(track, rows, next);
    window.resolution_ns = next;
    sort_rows(tracks);
  }
  for (auto& [track, rows] : tracks) window.tracks.push_back({track, std::move(rows)});
  return window;
}

}  // namespace aaco::workflows
