#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analytics/rootcause.h"
#include "core/result.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

// Where the run time of a recorded command went. With the scheduler's events the parts follow its first thread and, where that
// waits for a child or another thread, what those did (analytics/run_path.h); without them they are known of a command with one
// thread only. The parts and what is not recorded add up to wall_ns.
struct RecordAccount {
  // Of a part "asleep:...": how long in which system call, and the waits for a CPU right after such sleeps, which are in
  // "run_queue_wait".
  struct Sleep {
    std::map<std::string, double> calls;  // ns; an empty name: in none that is recorded
    double wakes = 0, woken_ns = 0;
  };
  double wall_ns = 0;
  std::map<std::string, double> parts;  // "computing", "kernel", "run_queue_wait", "cpu_throttling", "asleep:pipe or network"
  std::map<std::string, Sleep> sleeps;  // by part; empty without the scheduler's events
  bool recorded = false;                // by the scheduler's events
  double process_cpu_ns = 0, faults = 0, major_faults = 0, memory_limit_hits = 0, traced_stops = 0;
  std::map<std::string, double> threads;  // "NAME" -> ns that it ran in the path, where it is not the first thread
};

// Of a recording with a run time; empty without one, and where its parts cannot be told.
core::Result<std::optional<RecordAccount>> record_account(const ComparedSession& session);

// Of its run time without the waits for a CPU, which the scheduler's events tell: the parts of record_account() without these,
// which add up to wall_ns. Empty without events.
core::Result<std::optional<RecordAccount>> record_own_account(const ComparedSession& session);

// Of its CPU time alone, that of all its processes and threads: user and kernel time, which add up to wall_ns, here the CPU time.
core::Result<std::optional<RecordAccount>> record_cpu_account(const ComparedSession& session);

// The mean of accounts (not empty).
RecordAccount mean_account(const std::vector<RecordAccount>& accounts);

// The difference of two accounts: its parts add up, with unexplained_ns, to the difference of the run times. Waits for a CPU at
// the wake-ups of sleeps that only one side has (its number more than the other's, at its own mean wait) belong to these sleeps.
analytics::rootcause::Decomposition decompose(const RecordAccount& a, const RecordAccount& b);

}  // namespace aaco::workflows
