#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"

// Operating-system scheduling of a process, from sched_events rows: per iteration, as metrics, and as a readable summary.
namespace aaco::analytics::scheduling {

struct Span {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// For one iteration. `caller` is the thread that calls the model, `process` all threads of its process.
struct IterationSums {
  std::int64_t caller_run_queue_ns = 0, caller_off_cpu_ns = 0, process_run_queue_ns = 0;
  std::int64_t page_faults = 0, interrupt_ns = 0, migrations = 0;
  bool operator==(const IterationSums&) const = default;
};

// Adds rows, in any order, to the iterations they overlap; an interval that crosses a border counts on each side
// proportionally.
class IterationJoin {
 public:
  // Non-overlapping iterations in time order.
  IterationJoin(std::vector<Span> iterations, std::int64_t process_id, std::int64_t caller_thread);
  void add(const trace::SchedEventRow& row, std::string_view kind);
  [[nodiscard]] const std::vector<IterationSums>& sums() const { return sums_; }

 private:
  std::vector<Span> iterations_;
  std::vector<IterationSums> sums_;
  std::int64_t process_id_, caller_;
};

// A call as long as the median one, by the scheduler's events: the mean of the watched calls whose durations lie in the middle
// fifth. Of its wall time the calling thread waited for a CPU and slept so long; it ran for the rest.
struct TypicalCall {
  std::int64_t calls = 0;
  double wall_ns = 0, wait_ns = 0, blocked_ns = 0;
};
// Of the measured iterations; empty with fewer than 10 watched ones.
std::optional<TypicalCall> typical_call(std::span<const trace::IterationRow> iterations, const trace::NameTable& names);

// sched.* of the watched iterations.
trace::Metrics iteration_metrics(std::span<const trace::IterationRow> iterations);

// All events by thread and by reason. Rows in any order, but woken_ns needs those of a thread in order of time; memory is bounded
// by the number of threads and reasons.
class Summary {
 public:
  struct Thread {
    std::string name;
    std::int64_t process_id = 0;
    std::int64_t run_ns = 0, run_queue_ns = 0, off_cpu_ns = 0, migrations = 0, faults = 0;
  };
  struct Reason {
    std::int64_t count = 0, total_ns = 0, longest_ns = 0, bytes = 0;
    std::int64_t woken_ns = 0;  // of an off_cpu: waits for a CPU right after such sleeps
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, detail, call

  void add(const trace::SchedEventRow& row, const trace::NameTable& names);
  [[nodiscard]] bool empty() const { return reasons_.empty(); }
  [[nodiscard]] const std::map<std::int64_t, Thread>& threads() const { return threads_; }  // by id
  [[nodiscard]] const std::map<Key, Reason>& reasons() const { return reasons_; }
  // sched.run_queue_*: duration of waits for a CPU.
  [[nodiscard]] trace::Metrics metrics() const;

 private:
  static constexpr std::size_t kMaxThreads = 65536;
  struct Sleep {
    std::int64_t end_ns = 0;
    Reason* reason = nullptr;  // of reasons_, which keep their places
  };
  void add_woken(const trace::SchedEventRow& row, std::string_view kind, Reason& reason);

  std::map<std::int64_t, Thread> threads_;
  std::map<std::int64_t, Sleep> last_sleeps_;  // by thread
  std::map<Key, Reason> reasons_;
  std::vector<std::int64_t> waits_;
};

}  // namespace aaco::analytics::scheduling
