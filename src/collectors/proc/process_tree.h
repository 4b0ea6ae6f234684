#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "collectors/probe/probe_file.h"
#include "collectors/proc/process_files.h"
#include "trace/sink.h"

namespace aaco::collectors::proc {

// A thread under observation, its files kept open, and what it had counted when it was last read.
struct ThreadProbe {
  std::int64_t id = 0;
  probe::ProbeFile sched_stat, status;
  std::optional<std::uint64_t> wait_ns;
  std::optional<std::uint64_t> voluntary_switches, involuntary_switches;
};

// A process under observation.
struct ProcessProbe {
  std::int64_t id = 0;
  trace::NameId entity;                // "pid 4711"
  std::optional<clockid_t> cpu_clock;  // CPU time in ns by system call; only on the real machine
  probe::ProbeFile stat, status, io;
  std::vector<ThreadProbe> threads;
  std::optional<std::int64_t> cpu_ns;  // all threads, ended ones included
  std::optional<ProcessStat> last_stat;
  std::optional<std::uint64_t> read_bytes, written_bytes;  // storage I/O
  bool alive = true;
};

// The process under observation and its descendants, with their threads. What began and ended between two refreshes is not
// seen itself; its CPU time is, in what its parent has waited for.
class ProcessTree {
 public:
  // Threads observed one by one; their files stay open, so that this bounds descriptors too.
  static constexpr std::size_t kMaxThreads = 128;
  static constexpr std::size_t kMaxProcesses = 64;

  // Fails with not_found where there is no such process.
  core::Status open(const SysRoot& root, std::int64_t process_id);
  // Looks for new and ended processes and threads. Entities are named in `sink`.
  void refresh(trace::Sink& sink);
  void intern(trace::Sink& sink);
  void forget();

  [[nodiscard]] std::span<ProcessProbe> processes() { return processes_; }
  [[nodiscard]] std::size_t thread_count() const;
  // Processes and threads beyond the limits at the last refresh.
  [[nodiscard]] std::size_t unobserved() const { return unobserved_; }

 private:
  core::Result<ProcessProbe> open_process(std::int64_t id) const;
  // `others`: threads observed in other processes.
  void refresh_threads(ProcessProbe& process, std::size_t others);
  void adopt(std::int64_t id, trace::Sink& sink);
  void adopt_children(std::size_t parent_index, trace::Sink& sink);
  void adopt_by_parents(trace::Sink& sink);
  [[nodiscard]] std::string path_of(std::int64_t id, std::string_view file) const;

  SysRoot root_;
  std::vector<ProcessProbe> processes_;  // the root of the tree first
  std::size_t unobserved_ = 0;
  bool has_children_files_ = false;
  std::int64_t turn_ = 0;
};

}  // namespace aaco::collectors::proc
