#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analytics/scheduling.h"
#include "trace/rows.h"

// Where the run time of a whole program went, from the scheduler's events of all its threads.
namespace aaco::analytics::scheduling {

// Follows a program's first thread from its first to its last event. While that thread waits for a child process (wait4) or for
// another thread (futex), the time is divided by what the one that ended the wait did meanwhile, and so on. Each instant counts
// once, so the parts never exceed the run time; time without an event of the thread is in no part.
class RunPath {
 public:
  // Rows kept; later ones are not considered. 128 MB.
  static constexpr std::size_t kMaxRows = std::size_t{1} << 22;

  enum class State : std::uint8_t { running, runnable, asleep };
  struct Part {
    double ns = 0;
    std::int64_t count = 0;  // intervals, or pieces of them
  };
  using Sleep = std::pair<std::string, std::string>;  // detail, call of the off_cpu rows
  struct Totals {
    std::map<std::int64_t, Part> running;  // by thread
    Part runnable;
    std::map<Sleep, Part> asleep;
    std::map<Sleep, Part> woken;  // of `runnable`: the waits for a CPU that follow a sleep, each after its own
    [[nodiscard]] double sum_ns() const;
  };

  // Rows of "run", "run_queue" and "off_cpu" in any order; others are ignored.
  void add(const trace::SchedEventRow& row, std::string_view kind, std::string_view detail, std::string_view call);
  // False once rows were left out: the totals are then those of a part of the run.
  [[nodiscard]] bool whole() const { return whole_; }
  // Of the first thread `thread_id`; all zero without events of it.
  [[nodiscard]] Totals totals(std::int64_t thread_id);

 private:
  struct Interval {
    std::int64_t start_ns = 0, end_ns = 0;
    std::uint32_t woken_by = 0, why = 0;  // why: index into reasons_
    State state = State::running;
    bool woken = false;  // runnable right after the sleep `why`
  };

  void sort();
  void divide(std::int64_t thread, Span within, int depth, const Interval* waits, Totals& totals) const;
  void take(std::int64_t thread, const Interval& one, std::int64_t ns, Totals& totals) const;

  std::unordered_map<std::int64_t, std::vector<Interval>> threads_;
  std::vector<Sleep> reasons_;
  std::map<Sleep, std::uint32_t> index_;
  std::size_t rows_ = 0;
  bool whole_ = true;
};

}  // namespace aaco::analytics::scheduling
