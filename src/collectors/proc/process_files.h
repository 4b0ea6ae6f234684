#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace aaco::collectors::proc {

// What /proc/PID/stat says of a process and all its threads. Times are clock ticks (10 ms), `waited_` those of children that
// ended and were waited for.
struct ProcessStat {
  char state = '?';
  std::int64_t parent = 0, session = 0;
  std::uint64_t minor_faults = 0, major_faults = 0;
  std::uint64_t user_ticks = 0, system_ticks = 0;
  std::uint64_t waited_user_ticks = 0, waited_system_ticks = 0;
  std::int64_t threads = 0;
  std::uint64_t start_ticks = 0;  // since boot
  std::int64_t rss_pages = 0;
  bool operator==(const ProcessStat&) const = default;
};
// Empty for a text that is cut or not of that form. A command name may hold spaces and parentheses.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// /proc/PID/task/TID/schedstat, ns since the thread began.
struct SchedStat {
  std::uint64_t run_ns = 0;
  std::uint64_t wait_ns = 0;  // runnable, but no CPU was free
  std::uint64_t slices = 0;
  bool operator==(const SchedStat&) const = default;
};
std::optional<SchedStat> parse_sched_stat(std::string_view text);

// The lines we need of /proc/PID/status or /proc/PID/task/TID/status. Switches are the thread's, memory the process's.
struct ProcessStatus {
  std::optional<std::uint64_t> peak_rss_bytes;  // VmHWM
  std::optional<std::uint64_t> swap_bytes;
  std::optional<std::uint64_t> voluntary_switches, involuntary_switches;
  bool operator==(const ProcessStatus&) const = default;
};
ProcessStatus parse_process_status(std::string_view text);

}  // namespace aaco::collectors::proc
