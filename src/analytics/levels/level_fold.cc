#include <algorithm>
#include <cstdint>

#include "analytics/levels.h"

namespace aaco::analytics::levels {
namespace {

// Where the bin of this width ends that has the time.
std::int64_t end_of_bin(std::int64_t time, std::int64_t width) {
  const std::int64_t start = (time / width - (time % width < 0 ? 1 : 0)) * width;
  return start > INT64_MAX - width ? INT64_MAX : start + width;
}

// `right` began no earlier than `left`.
void merge(Segment& left, const Segment& right) {
  const std::int64_t hidden = std::clamp<std::int64_t>(left.end_ns - right.start_ns, 0, right.busy_ns);
  left.busy_ns += right.busy_ns - hidden;
  left.end_ns = std::max(left.end_ns, right.end_ns);
  left.event_count += right.event_count;
  left.correlation_id = 0;
  left.detail = {};
  if (right.longest_ns <= left.longest_ns) return;
  left.name = right.name;
  left.longest_start_ns = right.longest_start_ns;
  left.longest_ns = right.longest_ns;
}

}  // namespace

Segment single(std::int64_t start_ns, std::int64_t end_ns, trace::NameId name) {
  const std::int64_t duration = std::max<std::int64_t>(0, end_ns - start_ns);
  return {start_ns, start_ns + duration, duration, 1, name, start_ns, duration, 0, {}};
}

std::vector<std::int64_t> Plan::resolutions() const {
  std::vector<std::int64_t> list;
  for (std::int64_t width = finest_ns; width > 0 && width <= coarsest_ns; width *= kStep) list.push_back(width);
  return list;
}

std::int64_t Plan::best(std::int64_t wanted_ns) const {
  std::int64_t best = 0;
  for (const std::int64_t width : resolutions())
    if (width <= wanted_ns) best = width;
  return best;
}

Plan plan_levels(std::int64_t event_count, std::int64_t span_ns) {
  if (event_count < kFewEvents || span_ns <= 0) return {};
  const double events = static_cast<double>(span_ns) / static_cast<double>(event_count) * kEventsPerBin;
  const double bin = std::min(events, static_cast<double>(span_ns) / kPixels);
  Plan plan{1, 1};
  while (static_cast<double>(plan.finest_ns * kStep) <= bin) plan.finest_ns *= kStep;
  plan.coarsest_ns = plan.finest_ns;
  while (plan.coarsest_ns * kStep <= span_ns / kOverviewBins) plan.coarsest_ns *= kStep;
  return plan;
}

void LevelFold::add(const Track& track, const Segment& segment) {
  auto& entry = tracks_[track];
  if (entry.value.empty()) entry.value.resize(resolutions_.size());
  add(entry.track, entry.value, 0, segment);
}

void LevelFold::add(const Track& track, Levels& levels, std::size_t level, const Segment& segment) {
  if (level == levels.size()) return;
  const std::int64_t width = resolutions_[level];
  Open& open = levels[level];
  const bool alone = segment.end_ns - segment.start_ns >= width;
  if (open.used && (alone || segment.start_ns >= open.until_ns)) flush(track, levels, level);
  if (alone) {
    emit_(track, width, segment);
    add(track, levels, level + 1, segment);
  } else if (open.used) {
    merge(open.segment, segment);
  } else {
    open = {true, end_of_bin(segment.start_ns, width), segment};
  }
}

void LevelFold::flush(const Track& track, Levels& levels, std::size_t level) {
  Open& open = levels[level];
  if (!open.used) return;
  open.used = false;
  emit_(track, resolutions_[level], open.segment);
  add(track, levels, level + 1, open.segment);
}

void LevelFold::finish() {
  for (const Track& track : tracks_.tracks())
    for (std::size_t level = 0; level < resolutions_.size(); ++level) flush(track, tracks_[track].value, level);
}

}  // namespace aaco::analytics::levels
