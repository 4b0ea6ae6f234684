#include "report/trace_section.h"

#include <utility>

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const TraceTimeline::Track& track) {
  return Json::object(
      {{"rank", track.rank}, {"kind", track.kind}, {"place", track.place}, {"lane", track.lane}, {"depth", track.depth}});
}

// A column of a layer. Grown at once and moved, never copied: a page has a quarter of a million of such values.
class Column {
 public:
  explicit Column(std::size_t rows = 0) { values_.reserve(rows); }
  void push(Json value) { values_.push_back(std::move(value)); }
  [[nodiscard]] Json take() { return Json::array(std::move(values_)); }

 private:
  Json::Array values_;
};

// Columns: starts as differences within a track, and what only few rows have as lists of those rows.
Json to_json(const TraceTimeline::Layer& layer) {
  const std::size_t rows = layer.rows.size();
  Column tracks, track_rows, start(rows), duration(rows), name(rows), detail(rows), link(rows);
  Column merged, count, busy, longest;
  std::int64_t last_start = 0, in_track = 0;
  for (std::size_t i = 0; i < rows; ++i) {
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
  Json out =
      Json::object({{"from_ns", layer.from_ns}, {"to_ns", layer.to_ns}, {"resolution_ns", layer.resolution_ns}, {"rows", rows}});
  out.set("tracks", tracks.take()).set("track_rows", track_rows.take());
  out.set("start_ns", start.take()).set("duration_ns", duration.take());
  out.set("name", name.take()).set("detail", detail.take()).set("link", link.take());
  out.set("merged", merged.take()).set("merged_event_count", count.take());
  out.set("merged_busy_ns", busy.take()).set("merged_longest_ns", longest.take());
  return out;
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
  Json out = Json::object({{"origin_ns", section.origin_ns}, {"span_ns", section.span_ns}, {"event_count", section.event_count}});
  out.set("tracks", std::move(tracks)).set("names", std::move(names)).set("short_names", std::move(short_names));
  out.set("groups", std::move(groups)).set("details", Json::texts(section.details)).set("layers", std::move(layers));
  return out;
}

// A timeline has no form in text: the parts of the bar, the gaps and the kernels say the same.
void write_text(TextPage& /*page*/, const TraceTimeline& /*section*/, const ReportModel& /*model*/) {}

}  // namespace aaco::report
