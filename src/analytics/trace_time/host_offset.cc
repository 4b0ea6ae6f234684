#include "analytics/host_offset.h"

#include <algorithm>
#include <string_view>

#include "analytics/trace_time.h"
#include "trace/api_domains.h"

namespace aaco::analytics::trace_time {
namespace {

bool waits_for_device(std::string_view name) {
  return name.find("DeviceSynchronize") != std::string_view::npos || name.find("CtxSynchronize") != std::string_view::npos;
}

}  // namespace

bool is_blocking_copy(std::string_view api) {
  return api.find("emcpy") != std::string_view::npos && api.find("Async") == std::string_view::npos;
}

void DeviceWaits::add(const trace::ApiCallRow& row, const trace::NameTable& names) {
  if (row.name.value >= kinds_.size()) kinds_.resize(std::max<std::size_t>(names.size(), row.name.value + std::size_t{1}));
  std::int8_t& kind = kinds_[row.name.value];
  if (kind == 0) kind = waits_for_device(names.text(row.name)) ? 1 : -1;
  if (kind < 0 || row.end_ns <= row.start_ns || !trace::is_gpu_runtime(names.text(row.domain))) return;
  if (auto& waits = waits_[row.rank]; waits.size() < kMaxWaits) waits.push_back({row.start_ns, row.end_ns});
}

std::optional<std::int64_t> DeviceWaits::done_after(std::int32_t rank, std::int64_t launch_end_ns) const {
  const auto waits = waits_.find(rank);
  if (waits == waits_.end()) return std::nullopt;
  const auto next = std::lower_bound(waits->second.begin(), waits->second.end(), launch_end_ns,
                                     [](const Wait& wait, std::int64_t time) { return wait.start_ns < time; });
  return next == waits->second.end() ? std::nullopt : std::optional(next->end_ns);
}

void HostOffset::Proof::add(std::int64_t by_ns) {
  if (by_ns <= kRoundingNs) return;
  ++count;
  second_ns = std::max(second_ns, std::min(largest_ns, by_ns));
  largest_ns = std::max(largest_ns, by_ns);
}

bool HostOffset::Proof::is_proven(std::int64_t linked) const {
  return count >= kMinCount && static_cast<double>(count) >= kMinShare * static_cast<double>(linked);
}

void HostOffset::add(std::int64_t launch_start_ns, std::int64_t start_ns, std::int64_t end_ns,
                     std::optional<std::int64_t> done_ns) {
  if (end_ns < start_ns || !is_time(launch_start_ns) || !is_time(start_ns) || !is_time(end_ns)) return;
  ++linked_;
  early_.add(launch_start_ns - start_ns);
  if (done_ns && is_time(*done_ns)) late_.add(end_ns - *done_ns);
}

std::int64_t HostOffset::apart_ns() const {
  return std::max(early_.is_proven(linked_) ? early_.second_ns : 0, late_.is_proven(linked_) ? late_.second_ns : 0);
}

std::int64_t HostOffset::offset_ns() const {
  const bool early = early_.is_proven(linked_), late = late_.is_proven(linked_);
  if (early == late) return 0;
  return early ? early_.second_ns : -late_.second_ns;
}

}  // namespace aaco::analytics::trace_time
