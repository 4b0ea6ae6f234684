#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analytics/llm_slow.h"

namespace aaco::analytics::llm {

// Values over time: each is valid within its window. Windows are in order and do not overlap.
class Windows {
 public:
  struct Window {
    std::int64_t from_ns = 0, to_ns = 0;
    double value = 0;
  };
  void add(std::int64_t from_ns, std::int64_t to_ns, double value);
  // Sorts, and joins windows that overlap into one of value 1.
  void unite();
  // Sum of value times length within the time, each value at most 1.
  [[nodiscard]] double covered(std::int64_t from_ns, std::int64_t to_ns) const;
  // The largest value of a window that overlaps the time; 0: none.
  [[nodiscard]] double largest(std::int64_t from_ns, std::int64_t to_ns) const;
  [[nodiscard]] bool any(std::int64_t from_ns, std::int64_t to_ns) const { return largest(from_ns, to_ns) > 0; }
  [[nodiscard]] bool empty() const { return windows_.empty(); }

 private:
  [[nodiscard]] std::vector<Window>::const_iterator first_after(std::int64_t time_ns) const;
  std::vector<Window> windows_;
};

inline constexpr std::int64_t kClientWindowNs = 20'000'000;  // of the client's own samples
inline constexpr std::int64_t kMaxWindowNs = 1'000'000'000;  // a sample says nothing about more than this before it

// A thread of the server slept.
struct ServerSleep {
  std::int64_t from_ns = 0, to_ns = 0;
  std::string_view call;  // system call; empty: unknown
};

// The rows of a BesideLoad by what they say.
struct RecordedBeside {
  RecordedBeside(const BesideLoad& beside, const trace::NameTable& names);
  Windows client_lag;                          // ns by which the client's loop was late
  Windows client_read;                         // the longest of its reads in a window
  std::map<std::int64_t, double> late_chunks;  // by when they were read, how long their bytes had waited: of the late ones
  // Of the chunk that was read then; empty: the kernel did not tell.
  [[nodiscard]] std::optional<double> read_lag_ns(std::int64_t time_ns) const;
  Windows throttled, cpu_wait, io_wait;
  Windows low_clock, evictions, queued;  // value 1 where it was so
  std::int64_t clock_error_ns = 0;
  std::vector<ServerSleep> sleeps;  // of the server's threads, in order of their begin
  bool reads_known = false;
  bool never_queued = false;  // the server's gauge of waiting requests was read, and was never above 0
};

}  // namespace aaco::analytics::llm
