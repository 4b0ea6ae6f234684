#include "workflows/timeline_levels.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include "core/files.h"
#include "tracelake/lake.h"
#include "workflows/timeline/trace_events.h"

namespace aaco::workflows {

using analytics::levels::Plan;
using analytics::levels::Segment;
using analytics::levels::Track;

TimelineLevels::TimelineLevels(const Plan& plan, std::string session_path, trace::NameTable& names, trace::Sink& sink)
    : wanted_(!plan.empty()),
      session_path_(std::move(session_path)),
      names_(names),
      sink_(sink),
      stored_(names, sink),
      resolutions_(plan.resolutions()),
      fold_(plan.resolutions(), [this](const Track& track, std::int64_t resolution_ns,
                                       const Segment& segment) { store(track, resolution_ns, segment); }),
      events_(names, EventSegments::Details::none,
              [this](const Track& track, const Segment& segment) { fold_.add(track, segment); }) {
  if (!wanted_) return;
  for (const auto kind : analytics::levels::kKinds) kinds_.push_back(sink.name(to_string(kind)));
  for (std::size_t i = 1; i < resolutions_.size(); ++i) coarser_.emplace_back(core::join_path(session_path_, ".spill"));
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
  const auto level =
      static_cast<std::size_t>(std::find(resolutions_.begin(), resolutions_.end(), resolution_ns) - resolutions_.begin());
  if (level == 0)
    sink_.add(row);
  else if (status_)
    status_ = coarser_[level - 1].add(row);
}

core::Status TimelineLevels::finish() {
  end_table();
  if (!wanted_) return {};
  AACO_TRY(tracelake::scan_table<trace::CollectiveRow>(session_path_, names_,
                                                       [&](std::span<const trace::CollectiveRow> rows) -> core::Status {
                                                         for (const auto& row : rows) add(row);
                                                         return sink_.status();
                                                       }));
  end_table();
  fold_.finish();
  AACO_TRY(status_);
  for (const auto& level : coarser_) AACO_TRY(level.visit([this](const trace::TimelineLevelRow& row) { sink_.add(row); }));
  coarser_.clear();
  return sink_.status();
}

core::Status store_levels(const std::string& session_path, const Plan& plan, trace::Sink& sink,
                          const std::function<core::Status()>& go_on) {
  if (plan.empty()) return {};
  trace::NameTable names;
  TimelineLevels levels(plan, session_path, names, sink);
  AACO_TRY(read_trace_rows(
      session_path, names, EventSegments::Details::none, {},
      [&]<class Row>(const Row& row) {
        if constexpr (!std::is_same_v<Row, trace::CollectiveRow>) levels.add(row);  // finish() reads them
      },
      [&](bool table_ended) {
        if (table_ended) levels.end_table();
        return go_on();
      }));
  return levels.finish();
}

}  // namespace aaco::workflows
