#include "workflows/session_report/lost_time.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

// One second of a call: ns of the caller running and waiting, of its other threads waiting, of CPU time of other processes.
analytics::signals::CallAccount account(double cpu, double wait, std::optional<double> threads_wait,
                                        std::optional<double> others) {
  analytics::signals::CallAccount out;
  out.calls = 100;
  out.wall_ns = 1e9;
  out.cpu_ns = cpu * 1e9;
  out.wait_ns = wait * 1e9;
  out.blocked_ns = std::max(0.0, 1 - cpu - wait) * 1e9;
  if (threads_wait) out.others_wait_ns = *threads_wait * 1e9;
  if (others) out.others_cpu_ns = *others * 1e9;
  return out;
}

TEST(LostTime, OtherProcessesAreNamedWithTheirShare) {
  EXPECT_EQ(lost_time(account(0.5, 0.5, 0.5, 1.02), "cpu_contention", 2),
            "50.0 % of it is waiting for a CPU: other processes used 1.02 of its 2 CPUs");
  EXPECT_EQ(lost_time(account(0.5, 0.5, 0.5, 0.97), "compute_bound", 1),
            "50.0 % of it is waiting for a CPU: other processes used 0.97 of its 1 CPU");
  EXPECT_EQ(lost_time(account(0.5, 0.5, 0.5, 1.02), "", {}), "50.0 % of it is waiting for a CPU: other processes used 1.02 CPUs");
}

TEST(LostTime, OtherThreadsThatWaitWhileTheCallerRuns) {
  EXPECT_EQ(lost_time(account(0.98, 0.02, 0.48, 1.0), "cpu_contention", 2),
            "meanwhile 0.48 of its other threads waited for a CPU: other processes used 1.00 of its 2 CPUs");
  EXPECT_EQ(lost_time(account(0.98, 0.02, 0.48, 0.05), "cpu_placement", 2), "")
      << "its own threads: no share of the call is known";
}

TEST(LostTime, OwnThreadsAndTheQuotaAreDistinguished) {
  EXPECT_EQ(lost_time(account(0.5, 0.5, 0.5, 0.05), "cpu_placement", 1),
            "50.0 % of it is waiting for a CPU: its own threads share too few CPUs");
  EXPECT_EQ(lost_time(account(0.2, 0.8, 2.4, 0.3), "cpu_placement", 1),
            "80.0 % of it is waiting for a CPU: its own threads share too few CPUs")
      << "others explain a small part of the wait only";
  auto throttled = account(0.5, 0.5, 0, 0.9);
  throttled.throttled_ns = 0.45e9;
  EXPECT_EQ(lost_time(throttled, "cpu_throttling", 2), "50.0 % of it is waiting for a CPU: its CPU quota was used up");
}

TEST(LostTime, SleepCountsWhereItLimitsTheRun) {
  EXPECT_EQ(lost_time(account(0.55, 0.04, 0, 0), "host_waiting", 2),
            "41.0 % of it is sleep: on a timer, a lock, another thread or process");
  EXPECT_EQ(lost_time(account(0.55, 0.04, 0, 0), "compute_bound", 2), "") << "it may sleep while its own threads compute";
}

TEST(LostTime, NothingIsSaidOfLittleOrOfWhatWasNotMeasured) {
  EXPECT_EQ(lost_time(account(0.95, 0.05, 0.1, 1.5), "cpu_contention", 2), "");
  EXPECT_EQ(lost_time(account(0.5, 0.5, 0.5, std::nullopt), "", 2), "50.0 % of it is waiting for a CPU")
      << "by whom is not known";
  auto unknown = account(0.5, 0.5, 0.5, 1);
  unknown.wait_ns.reset();
  EXPECT_EQ(lost_time(unknown, "cpu_contention", 2), "");
  EXPECT_EQ(lost_time({}, "cpu_contention", 2), "");
}

}  // namespace
}  // namespace aaco::workflows
