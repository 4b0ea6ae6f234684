#include "workflows/timeline/event_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace aaco::workflows {
namespace {

using analytics::levels::Kind;

std::string dimensions(const std::optional<std::int64_t>& x, const std::optional<std::int64_t>& y,
                       const std::optional<std::int64_t>& z) {
  return fmt::format("{} x {} x {}", *x, y.value_or(1), z.value_or(1));
}

}  // namespace

Kind EventSegments::kind_of(const trace::ApiCallRow& row) {
  if (row.domain.value >= kinds_.size()) kinds_.resize(row.domain.value + std::size_t{1});
  auto& known = kinds_[row.domain.value];
  // Of a domain with one kind for all its names the first entry speaks.
  if (known.size() == 1 && known.front().first == 0) return known.front().second;
  const auto place = std::lower_bound(known.begin(), known.end(), row.name.value,
                                      [](const auto& entry, std::uint32_t name) { return entry.first < name; });
  if (place != known.end() && place->first == row.name.value) return place->second;
  const Kind kind = analytics::levels::host_kind(names_.text(row.domain), names_.text(row.name));
  if (kind != Kind::launch && kind != Kind::runtime)
    known.assign(1, {0, kind});
  else
    known.insert(place, {row.name.value, kind});
  return kind;
}

void EventSegments::hold(const Event& event) {
  if (!held_.empty() && held_.front().segment.start_ns != event.segment.start_ns) release();
  held_.push_back(event);
}

void EventSegments::release() {
  if (held_.size() > 1)
    std::stable_sort(held_.begin(), held_.end(),
                     [](const Event& a, const Event& b) { return a.segment.end_ns > b.segment.end_ns; });
  for (Event& event : held_) {
    event.lane.depth = depths_.place(event.lane, event.segment.start_ns, event.segment.end_ns);
    visit_(event.lane, event.segment);
  }
  held_.clear();
}

void EventSegments::add(const trace::ApiCallRow& row) {
  if (row.name == no_frame_) return;
  Event event{{row.rank, kind_of(row), row.process_id, row.thread_id, 0},
              analytics::levels::single(row.start_ns, row.end_ns, row.name)};
  event.segment.correlation_id = row.correlation_id;
  event.segment.detail = row.arguments;
  hold(event);
}

void EventSegments::add(const trace::KernelRow& row) {
  Event event{{row.rank, Kind::kernel, row.device, row.stream, 0}, analytics::levels::single(row.start_ns, row.end_ns, row.name)};
  event.segment.correlation_id = row.correlation_id;
  if (details_ && row.grid_x && row.block_x)
    event.segment.detail = names_.intern("grid " + dimensions(row.grid_x, row.grid_y, row.grid_z) + ", block " +
                                         dimensions(row.block_x, row.block_y, row.block_z));
  hold(event);
}

void EventSegments::add(const trace::CopyRow& row) {
  Event event{{row.rank, Kind::copy, row.device, row.stream, 0}, analytics::levels::single(row.start_ns, row.end_ns, row.kind)};
  event.segment.correlation_id = row.correlation_id;
  if (details_ && row.bytes) event.segment.detail = names_.intern(fmt::format("{} bytes", *row.bytes));
  hold(event);
}

void EventSegments::add(const trace::CollectiveRow& row) {
  Event event{{row.rank, Kind::collective, row.device, row.stream, 0},
              analytics::levels::single(row.start_ns, row.end_ns, row.operation)};
  event.segment.correlation_id = row.correlation_id;
  if (details_ && row.bytes)
    event.segment.detail = names_.intern(
        fmt::format("{} bytes{}", *row.bytes, row.group_size ? fmt::format(", {} ranks", *row.group_size) : std::string()));
  hold(event);
}

}  // namespace aaco::workflows
