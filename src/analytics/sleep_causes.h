#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analytics/scheduling.h"
#include "trace/metric.h"
#include "trace/rows.h"

// What the calling thread slept for, from sched_events rows.
namespace aaco::analytics::scheduling {

// awaited_thread_asleep: the thread that ended the sleep (the holder of a lock, a worker) slept meanwhile, for a timer or an
// event. peer: another process, at the other end of a socket or pipe, or a child.
enum class SleepCause : std::uint8_t {
  workers_computing,
  workers_waiting,
  io,
  page_faults,
  lock,
  timer,
  stopped,
  frozen,
  awaited_thread_asleep,
  peer,
  unknown
};
inline constexpr std::size_t kSleepCauses = 11;
// "workers_computing"
std::string_view to_string(SleepCause cause);
// sched.sleep_workers_computing_per_iteration_ns
std::string metric_of(SleepCause cause);

// Why a thread left its CPU, by the columns `detail` and `call` of its off_cpu row.
enum class SleepReason : std::uint8_t { handoff, file_lock, event, io, peer, page_faults, timer, stopped, frozen, unknown };
SleepReason sleep_reason(std::string_view detail, std::string_view call);
// The details and calls that sleep_reason() knows.
std::span<const std::string_view> known_details();
std::vector<std::string_view> known_calls();

// Divides the caller's sleep along the critical path: what a thread of the same process ended is divided by what that thread did
// meanwhile (running, waiting for a CPU, or asleep itself, and then by what that sleep waited for). The rest is divided by the
// reason the kernel recorded. Nothing is assigned without an event: that is `unknown`.
class SleepCauses {
 public:
  // Rows kept; later ones are not considered. 32 MB.
  static constexpr std::size_t kMaxRows = std::size_t{1} << 20;

  SleepCauses(std::vector<Span> iterations, std::int64_t process_id, std::int64_t caller_thread);
  // Rows of "run", "run_queue" and "off_cpu" in any order; others are ignored.
  void add(const trace::SchedEventRow& row, std::string_view kind, SleepReason reason);
  // Sleep of the caller inside the iterations, ns, by cause.
  [[nodiscard]] std::array<double, kSleepCauses> totals_ns() { return divided().by_cause; }
  // Of `awaited_thread_asleep`, the threads that slept: ns by thread.
  [[nodiscard]] std::map<std::int64_t, double> awaited_ns() { return divided().awaited; }
  // The mean per iteration of each cause; empty without iterations or rows.
  [[nodiscard]] trace::Metrics metrics();

 private:
  enum class State : std::uint8_t { run, queue, off };
  struct Interval {
    std::int64_t start_ns = 0, end_ns = 0;
    std::uint32_t woken_by = 0;
    State state = State::run;
    SleepReason reason = SleepReason::unknown;
  };
  struct Totals {
    std::array<double, kSleepCauses> by_cause{};
    std::map<std::int64_t, double> awaited;  // by thread
  };

  void sort();
  Totals divided();
  void divide_sleep(std::int64_t thread, const Interval& sleep, Span within, int depth, Totals& totals) const;
  void divide_thread(std::int64_t thread, Span within, int depth, Totals& totals) const;

  std::vector<Span> iterations_;
  std::int64_t process_id_, caller_;
  std::unordered_map<std::int64_t, std::vector<Interval>> threads_;
  std::size_t rows_ = 0;
  bool sorted_ = true;
};

}  // namespace aaco::analytics::scheduling
