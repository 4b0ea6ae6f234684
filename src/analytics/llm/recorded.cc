#include "analytics/llm/recorded.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace aaco::analytics::llm {
namespace {

constexpr double kThrottledShare = 0.05;  // of a GPU's sample from which its clock counts as lowered

// A reading is about the time since the one before.
class Readings {
 public:
  explicit Readings(Windows& to) : to_(to) {}
  void add(std::int64_t time_ns, double value) {
    to_.add(std::max(last_ns_.value_or(time_ns - kMaxWindowNs), time_ns - kMaxWindowNs), time_ns, value);
    last_ns_ = time_ns;
  }

 private:
  Windows& to_;
  std::optional<std::int64_t> last_ns_;
};

bool lowers_clock(std::string_view metric, double value) {
  if (metric == "cpu.thermal_throttles_per_second") return value > 0;
  if (metric.starts_with("gpu.throttle_") && metric.ends_with("_flag")) return value > 0;
  return metric.starts_with("gpu.throttled_") && metric.ends_with("_ratio") && value > kThrottledShare;
}

}  // namespace

void Windows::add(std::int64_t from_ns, std::int64_t to_ns, double value) {
  if (to_ns > from_ns && value > 0) windows_.push_back({from_ns, to_ns, value});
}

void Windows::unite() {
  std::sort(windows_.begin(), windows_.end(), [](const auto& a, const auto& b) { return a.from_ns < b.from_ns; });
  std::vector<Window> joined;
  for (const Window& window : windows_) {
    if (!joined.empty() && window.from_ns <= joined.back().to_ns)
      joined.back().to_ns = std::max(joined.back().to_ns, window.to_ns);
    else
      joined.push_back({window.from_ns, window.to_ns, 1});
  }
  windows_ = std::move(joined);
}

std::vector<Windows::Window>::const_iterator Windows::first_after(std::int64_t time_ns) const {
  return std::upper_bound(windows_.begin(), windows_.end(), time_ns,
                          [](std::int64_t time, const Window& window) { return time < window.to_ns; });
}

double Windows::covered(std::int64_t from_ns, std::int64_t to_ns) const {
  double sum = 0;
  for (auto window = first_after(from_ns); window != windows_.end() && window->from_ns < to_ns; ++window)
    sum +=
        std::min(1.0, window->value) * static_cast<double>(std::min(window->to_ns, to_ns) - std::max(window->from_ns, from_ns));
  return sum;
}

double Windows::largest(std::int64_t from_ns, std::int64_t to_ns) const {
  double most = 0;
  for (auto window = first_after(from_ns); window != windows_.end() && window->from_ns < to_ns; ++window)
    most = std::max(most, window->value);
  return most;
}

RecordedBeside::RecordedBeside(const BesideLoad& beside, const trace::NameTable& names) : clock_error_ns(beside.clock_error_ns) {
  Windows sampled_wait;
  Readings waits(sampled_wait), quota(throttled), queue(queued), late(client_lag), late_reads(client_read);
  std::optional<std::pair<std::int64_t, double>> evicted;
  bool gauge_read = false;
  double waiting = 0;
  for (const auto& row : beside.events) {
    const std::string_view metric = names.text(row.metric);
    if (metric == "client.loop_lag_ns") late.add(row.time_ns, row.value);
    if (metric == "client.read_lag_ns") {
      late_reads.add(row.time_ns, row.value);
      reads_known = true;
    }
    if (metric == "client.chunk_read_lag_ns") late_chunks[row.time_ns] = std::max(late_chunks[row.time_ns], row.value);
    if (metric == "server.waiting_requests") {
      queue.add(row.time_ns, row.value >= 1 ? 1 : 0);
      gauge_read = true;
      waiting = std::max(waiting, row.value);
    }
    if (metric == "server.preemption_count") {
      if (evicted && row.value > evicted->second) evictions.add(evicted->first, row.time_ns, 1);
      evicted = {row.time_ns, row.value};
    }
    if (row.rank != beside.machine) continue;
    if (lowers_clock(metric, row.value)) low_clock.add(row.time_ns - kMaxWindowNs, row.time_ns, 1);
    if (!beside.server_process) continue;
    if (metric == "process.run_queue_wait_ratio") waits.add(row.time_ns, row.value);
    if (metric == "cgroup.throttled_ratio") quota.add(row.time_ns, row.value);
  }
  never_queued = gauge_read && waiting < 1;
  for (const auto& row : beside.gpu)
    if (row.rank == beside.machine && lowers_clock(names.text(row.metric), row.value))
      low_clock.add(row.time_ns - kMaxWindowNs, row.time_ns, 1);
  low_clock.unite();
  if (!beside.server_process) return;
  for (const auto& row : beside.sched) {
    if (row.rank != beside.machine) continue;
    const std::string_view kind = names.text(row.kind);
    if (kind == "run_queue") cpu_wait.add(row.time_ns, row.time_ns + row.duration_ns, 1);
    if (kind == "off_cpu" && names.text(row.detail) == "disk_sleep") io_wait.add(row.time_ns, row.time_ns + row.duration_ns, 1);
  }
  for (const auto& row : beside.sched)
    if (row.rank == beside.machine && names.text(row.kind) == "off_cpu" && names.text(row.detail) == "sleep")
      sleeps.push_back({row.time_ns, row.time_ns + row.duration_ns, names.text(row.call)});
  std::sort(sleeps.begin(), sleeps.end(), [](const auto& a, const auto& b) { return a.from_ns < b.from_ns; });
  cpu_wait.unite();
  io_wait.unite();
  if (cpu_wait.empty()) cpu_wait = std::move(sampled_wait);  // nobody watched the scheduler
}

// A client that does not name its late chunks, of an older version, has the longest of each window only.
std::optional<double> RecordedBeside::read_lag_ns(std::int64_t time_ns) const {
  if (!reads_known) return std::nullopt;
  if (!late_chunks.empty()) {
    const auto late = late_chunks.find(time_ns);
    return late == late_chunks.end() ? 0 : late->second;
  }
  return client_read.largest(time_ns, time_ns + 1);
}

}  // namespace aaco::analytics::llm
