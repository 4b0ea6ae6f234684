#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

// Whether threads had a CPU, from sched_events rows in order of start, in bounded memory.
namespace aaco::analytics::gaps {

// Time a thread had no CPU.
struct HostAway {
  std::int64_t run_queue_ns = 0;  // runnable
  std::int64_t off_cpu_ns = 0;    // asleep or waiting
};

class HostSchedule {
 public:
  enum class State : std::uint8_t { run, run_queue, off_cpu };

  // For threads with only run intervals (Nsight Systems), returns the off-CPU interval between two runs.
  struct Interval {
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::optional<Interval> add(std::int32_t rank, std::int64_t thread_id, State state, std::int64_t start_ns, std::int64_t end_ns);

  // Empty if less than nine tenths of the time is recorded. A thread with more than kMaxPoints state changes has a
  // coarser time resolution: within one step it counts in proportion.
  [[nodiscard]] std::optional<HostAway> away(std::int32_t rank, std::int64_t thread_id, std::int64_t start_ns,
                                             std::int64_t end_ns) const;

  // Discards data before this time.
  void forget_before(std::int64_t time_ns);
  [[nodiscard]] std::size_t points() const;

  static constexpr std::size_t kMaxPoints = 8192;    // of a thread
  static constexpr std::size_t kMaxThreads = 65536;  // more threads are ignored

 private:
  // Sums from the thread's first row up to a time.
  struct Point {
    std::int64_t time_ns = 0;
    double recorded_ns = 0, run_queue_ns = 0, off_cpu_ns = 0;
  };
  struct Thread {
    std::vector<Point> points;  // in order of time
    bool has_waits = false;
  };
  static void append(Thread& thread, State state, std::int64_t start_ns, std::int64_t end_ns);
  static Point at(const Thread& thread, std::int64_t time_ns);

  std::map<std::pair<std::int32_t, std::int64_t>, Thread> threads_;
};

}  // namespace aaco::analytics::gaps
