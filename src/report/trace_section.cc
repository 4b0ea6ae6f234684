#include "report/trace_section.h"

#include <utility>

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const TraceTimeline::Track& track) {
  return Json::object(
      {{"rank", track.rank}, {"kind", track.kind}, {"place", track.place}, {"lane", track.lane}, {"depth", track.depth}});
}

// Columns: starts as differences within a track, and what only few rows have as lists of those rows.
Json to_json(const TraceTimeline::Layer& layer) {
  Json tracks = Json::array(), track_rows = Json::array(), start = Json::array(), duration = Json::array(), name = Json::array();
  Json detail = Json::array(), link = Json::array(), merged = Json::array(), count = Json::array(), busy = Json::array(),
       longest = Json::array();
  std::int64_t last_start = 0, in_track = 0;
  for (std::size_t i = 0; i < layer.rows.size(); ++i) {
    const TraceTimeline::Row& row = layer.rows[i];
    if (i == 0 || layer.rows[i - 1].track != row.track) {
      if (in_track > 0) track_rows.push(in_track);
      tracks.push(row.track);
      last_start = in_track = 0;
    }
    ++in_track;
    start.push(row.start_ns - std::exchange(last_start, row.start_ns));
    duration.push(row.duration_ns);
    name.push(row.name);
    detail.push(row.detail);
    link.push(row.link);
    if (row.event_count == 1) continue;
    merged.push(i);
    count.push(row.event_count);
    busy.push(row.busy_ns);
    longest.push(row.longest_ns);
  }
  if (in_track > 0) track_rows.push(in_track);
  return Json::object({{"from_ns", layer.from_ns},
                       {"to_ns", layer.to_ns},
                       {"resolution_ns", layer.resolution_ns},
                       {"rows", layer.rows.size()},
                       {"tracks", std::move(tracks)},
                       {"track_rows", std::move(track_rows)},
                       {"start_ns", std::move(start)},
                       {"duration_ns", std::move(duration)},
                       {"name", std::move(name)},
                       {"detail", std::move(detail)},
                       {"link", std::move(link)},
                       {"merged", std::move(merged)},
                       {"merged_event_count", std::move(count)},
                       {"merged_busy_ns", std::move(busy)},
                       {"merged_longest_ns", std::move(longest)}});
}

}  // namespace

Json to_json(const TraceTimeline& section) {
  Json tracks = Json::array(), layers = Json::array(), names = Json::array(), short_names = Json::array(), groups = Json::array();
  for (const auto& track : section.tracks) tracks.push(to_json(track));
  for (const auto& layer : section.layers) layers.push(to_json(layer));
  for (const auto& name : section.names) {
    names.push(name.text);
    short_names.push(name.short_text);
    groups.push(name.group);
  }
  return Json::object({{"origin_ns", section.origin_ns},
                       {"span_ns", section.span_ns},
                       {"event_count", section.event_count},
                       {"tracks", std::move(tracks)},
                       {"names", std::move(names)},
                       {"short_names", std::move(short_names)},
                       {"groups", std::move(groups)},
                       {"details", Json::texts(section.details)},
                       {"layers", std::move(layers)}});
}

// A timeline has no form in text: the parts of the bar, the gaps and the kernels say the same.
void write_text(TextPage& /*page*/, const TraceTimeline& /*section*/, const ReportModel& /*model*/) {}

}  // namespace aaco::report
