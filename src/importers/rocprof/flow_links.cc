#include "importers/rocprof/flow_links.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "importers/stream/gpu_names.h"

namespace aaco::importers::rocprof {
namespace {

using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

Key key_of(const Place& place) { return {place.section, place.lane, place.time_us}; }

// Rows by the place where they start; several may start in one microsecond, and each is taken once.
template <class Rows>
std::multimap<Key, std::size_t> by_start(const Rows& rows) {
  std::multimap<Key, std::size_t> index;
  for (std::size_t i = 0; i < rows.size(); ++i) index.emplace(key_of(rows[i].start), i);
  return index;
}

template <class Rows>
bool take(Rows& rows, std::multimap<Key, std::size_t>& index, const Place& place, std::uint64_t id) {
  const auto found = index.find(key_of(place));
  if (found == index.end()) return false;
  rows[found->second].row.correlation_id = id;
  index.erase(found);
  return true;
}

// The innermost call of the lane that spans the place: rocprof draws arrows from the middle of calls.
template <class Calls>
bool take_call(Calls& calls, const std::multimap<Key, std::size_t>& index, const Place& place, std::uint64_t id) {
  constexpr int kMaxTried = 64;
  auto at = index.upper_bound(key_of(place));
  for (int tried = 0; tried < kMaxTried && at != index.begin(); ++tried) {
    auto& call = calls[(--at)->second];
    if (call.start.section != place.section || call.start.lane != place.lane) return false;
    if (call.row.correlation_id != 0 || call.start.time_us + call.duration_us < place.time_us) continue;
    call.row.correlation_id = id;
    return true;
  }
  return false;
}

}  // namespace

void FlowLinks::add(const trace::ApiCallRow& row, const Place& start, std::int64_t duration_us) {
  if (calls_.size() < kMaxHeld) {
    calls_.push_back({row, start, duration_us, false});
    return;
  }
  ++outcome_.passed_on;
  sink_.add(row);
}

void FlowLinks::add(const trace::KernelRow& row, const Place& start, Tracer tracer, std::string_view name) {
  const bool collective = is_collective_kernel(name);
  if (collective && !operations_.contains(row.name.value))
    operations_.emplace(row.name.value, ids_.name(collective_operation_of(name)));
  auto& kernels = tracer == Tracer::hip ? hip_kernels_ : hsa_kernels_;
  const Held<trace::KernelRow> held{row, start, 0, collective};
  if (kernels.size() < kMaxHeld) {
    kernels.push_back(held);
    return;
  }
  ++outcome_.passed_on;
  write(held);
}

void FlowLinks::add(const trace::CopyRow& row, const Place& start) {
  if (copies_.size() < kMaxHeld) {
    copies_.push_back({row, start, 0, false});
    return;
  }
  ++outcome_.passed_on;
  sink_.add(row);
}

void FlowLinks::arrow_start(std::int64_t id, const Place& place) {
  if (arrows_.size() >= kMaxHeld && !arrows_.contains(id)) return;
  arrows_[id].from = place;
  arrows_[id].has_from = true;
}

void FlowLinks::arrow_end(std::int64_t id, const Place& place) {
  if (arrows_.size() >= kMaxHeld && !arrows_.contains(id)) return;
  arrows_[id].to = place;
  arrows_[id].has_to = true;
}

// The HIP tracer knows the launch, the HSA tracer the shape: one row has both.
void FlowLinks::merge_tracers() {
  if (hip_kernels_.empty() || hsa_kernels_.empty()) return;
  std::multimap<std::pair<std::int64_t, std::int64_t>, std::size_t> hip;
  for (std::size_t i = 0; i < hip_kernels_.size(); ++i)
    hip.emplace(std::pair(hip_kernels_[i].row.start_ns, hip_kernels_[i].row.end_ns), i);
  std::vector<Held<trace::KernelRow>> alone;
  for (const auto& held : hsa_kernels_) {
    const auto same = hip.find({held.row.start_ns, held.row.end_ns});
    if (same == hip.end()) {
      alone.push_back(held);
      continue;
    }
    trace::KernelRow& row = hip_kernels_[same->second].row;
    trace::KernelRow merged = held.row;
    merged.name = row.name;
    merged.device = row.device;
    merged.queue = row.queue;
    merged.stream = row.stream;
    row = merged;
    hip.erase(same);
    ++outcome_.merged;
  }
  hsa_kernels_ = std::move(alone);
}

void FlowLinks::link() {
  if (arrows_.empty()) return;
  const auto calls = by_start(calls_);
  auto kernels = by_start(hip_kernels_);
  auto copies = by_start(copies_);
  std::vector<std::pair<std::int64_t, const Arrow*>> arrows;
  for (const auto& [id, arrow] : arrows_)
    if (arrow.has_from && arrow.has_to) arrows.emplace_back(id, &arrow);
  std::sort(arrows.begin(), arrows.end());
  for (const auto& [arrow_id, arrow] : arrows) {
    const std::uint64_t id = static_cast<std::uint64_t>(arrow_id) + 1;  // 0 is none
    if (!take(hip_kernels_, kernels, arrow->to, id) && !take(copies_, copies, arrow->to, id)) continue;
    if (take_call(calls_, calls, arrow->from, id)) ++outcome_.linked;
  }
}

void FlowLinks::write(const Held<trace::KernelRow>& held) {
  sink_.add(held.row);
  if (!held.collective) return;
  sink_.add(collective_of(held.row, operations_[held.row.name.value]));
}

FlowLinks::Outcome FlowLinks::flush() {
  merge_tracers();
  link();
  for (const auto& held : calls_) sink_.add(held.row);
  for (const auto& held : hip_kernels_) write(held);
  for (const auto& held : hsa_kernels_) write(held);
  for (const auto& held : copies_) sink_.add(held.row);
  calls_.clear();
  hip_kernels_.clear();
  hsa_kernels_.clear();
  copies_.clear();
  arrows_.clear();
  return outcome_;
}

}  // namespace aaco::importers::rocprof
