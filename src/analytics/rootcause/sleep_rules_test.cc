#include "analytics/rootcause/sleep_rules.h"

#include <gtest/gtest.h>

#include "analytics/rootcause.h"
#include "analytics/rootcause/account_rules.h"
#include "analytics/rootcause/sides_testing.h"
#include "analytics/sleep_causes.h"

// A run of one thread on a machine whose CPUs others keep busy; what came makes it sleep, compute or map memory.
namespace aaco::analytics::rootcause {
namespace {

constexpr double kMs = 1e6;

// A call of 7 ms beside others that use 1 CPU.
Side alone() {
  Side side = calm();
  auto& call = *side.account;
  side.call_ns = call.wall_ns = 7 * kMs;
  call.cpu_ns = call.process_cpu_ns = 7 * kMs;
  call.others_cpu_ns = 7 * kMs;
  call.voluntary_switches = 0;
  side.signals.set("others.cpu_use_cores", 1.0);
  side.signals.set("others.wait_ratio", 1.0);
  return side;
}

// The same with waits for a CPU and sleep per call; others take what the run leaves, and `hogs` CPUs more.
Side disturbed(double wait_ms, double sleep_ms, double switches, double hogs = 0) {
  Side side = alone();
  auto& call = *side.account;
  call.wait_ns = wait_ms * kMs, call.blocked_ns = sleep_ms * kMs, call.voluntary_switches = switches;
  side.call_ns = call.wall_ns += (wait_ms + sleep_ms) * kMs;
  call.others_cpu_ns = call.wall_ns * (2 - *call.process_cpu_ns / call.wall_ns + hogs);
  side.signals.set("others.cpu_use_cores", *call.others_cpu_ns / call.wall_ns);
  return side;
}

TEST(WakeUps, WaitsOfACallerThatSleepsMoreOftenFollowFromItsSleep) {
  EXPECT_EQ(first_cause(alone(), disturbed(14, 1, 8)), "host_waiting") << "2 ms per wake-up";
  EXPECT_EQ(first_cause(disturbed(14, 1, 8), alone()), "host_waiting") << "also as an improvement";
}
TEST(WakeUps, WaitsWithoutMoreSleepsAreContention) {
  EXPECT_EQ(first_cause(alone(), disturbed(14, 1, 0)), "cpu_contention");
  EXPECT_EQ(first_cause(alone(), disturbed(14, 0, 1)), "cpu_contention") << "14 ms for one wake-up";
}
TEST(WakeUps, OthersThatTookMoreThanWasLeftAreContention) {
  EXPECT_EQ(first_cause(alone(), disturbed(14, 1, 8, 0.5)), "cpu_contention");
}
TEST(WakeUps, ARunWithWorkersSleepsForThese) {
  Side a = alone(), b = disturbed(14, 1, 8);
  a.account->process_cpu_ns = b.account->process_cpu_ns = 14 * kMs;
  EXPECT_FALSE(waits_at_wake_ups(a, b));
}
TEST(WakeUps, MovesBetweenCpusAreMigration) {
  Side b = disturbed(600, 0, 300);
  b.account->migrations = 300;
  EXPECT_EQ(first_cause(alone(), b), "migration");
}
TEST(WakeUps, UnknownSwitchesDecideNothing) {
  Side b = disturbed(14, 1, 8);
  b.account->voluntary_switches.reset();
  EXPECT_FALSE(waits_at_wake_ups(alone(), b));
}

TEST(StorageSleep, BytesOrMajorFaultsNameIt) {
  Side b = disturbed(0, 5, 4);
  EXPECT_EQ(first_cause(alone(), b), "host_waiting");
  b.account->major_faults = 4;
  EXPECT_EQ(first_cause(alone(), b), "storage");
  b.account->major_faults = 0, b.account->storage_bytes = 4096;
  EXPECT_EQ(first_cause(alone(), b), "storage");
  b = disturbed(14, 1, 8), b.account->storage_bytes = 16384;
  EXPECT_EQ(first_cause(alone(), b), "storage") << "and the waits at its wake-ups";
}
TEST(StorageSleep, StallsTellWritesToTheCacheFromStorage) {
  Side a = alone(), b = disturbed(0, 15, 1);
  a.account->io_some_ns = b.account->io_some_ns = 0.1 * kMs;
  a.account->storage_bytes = 65'536, b.account->storage_bytes = 131'072;
  EXPECT_EQ(first_cause(a, b), "host_waiting") << "a log that nobody waits for";
  b.account->io_some_ns = 7 * kMs, b.account->storage_bytes = 65'536;
  EXPECT_EQ(first_cause(a, b), "storage") << "as many bytes as before, slower";
  a.account->storage_bytes = b.account->storage_bytes = 0;
  EXPECT_EQ(first_cause(a, b), "host_waiting") << "another process stalls";
}
TEST(StorageSleep, EventsThatSayOtherwiseWin) {
  Side a = alone(), b = disturbed(0, 5, 4);
  b.account->storage_bytes = 1 << 20;
  for (Side* one : {&a, &b})
    for (std::size_t i = 0; i < scheduling::kSleepCauses; ++i)
      one->metrics.push_back({scheduling::metric_of(static_cast<scheduling::SleepCause>(i)), 0, "ns", {}, {}});
  for (auto& metric : b.metrics)
    if (metric.id == scheduling::metric_of(scheduling::SleepCause::peer)) metric.value = 5 * kMs;
  EXPECT_EQ(first_cause(a, b), "host_waiting");
  for (auto& metric : b.metrics) {
    if (metric.id == scheduling::metric_of(scheduling::SleepCause::peer)) metric.value = 0;
    if (metric.id == scheduling::metric_of(scheduling::SleepCause::page_faults)) metric.value = 5 * kMs;
  }
  b.account->major_faults = 3;
  EXPECT_EQ(first_cause(a, b), "storage") << "a major fault sleeps for storage";
}

const std::vector<hardware::Difference> kLevel = {{"graph_level", "all", "extended", hardware::Severity::changed, ""}};

TEST(SettingBesideSleep, AGraphLevelMakesNoCallerSleep) {
  EXPECT_EQ(first_cause(alone(), disturbed(0, 15, 1), kLevel), "host_waiting");
  Side slower = alone();
  slower.account->cpu_ns = slower.account->process_cpu_ns = slower.account->wall_ns = slower.call_ns = 20 * kMs;
  EXPECT_EQ(first_cause(alone(), slower, kLevel), "graph_optimisation") << "it computes longer";
}
TEST(SettingBesideSleep, AGraphLevelMapsNoMemory) {
  Side faults = alone();
  auto& call = *faults.account;
  call.cpu_ns = call.process_cpu_ns = call.wall_ns = faults.call_ns = 25 * kMs;
  call.system_ns = 18 * kMs, call.minor_faults = 8000;
  EXPECT_EQ(first_cause(alone(), faults, kLevel), "page_faults");
}
TEST(SettingBesideSleep, AThreadCountMayMakeItSleep) {
  EXPECT_EQ(first_cause(alone(), disturbed(0, 15, 1), {{"threads.intra", "1", "2", hardware::Severity::changed, ""}}), "threads");
}

TEST(WorkBesideNodes, IsTheHostsWork) {
  Decomposition difference;
  difference.baseline_ns = 6000, difference.delta_ns = 6000, difference.profiled = true;
  difference.parts = {{"host_computing", "", 5800, ""}, {"node:Conv", "", 200, ""}};
  Weights weights = {{"slower_execution", 0.6}, {"host_computing", 0.4}};
  apply_account(alone(), alone(), difference, weights);
  EXPECT_FALSE(weights.contains("slower_execution"));
  EXPECT_NEAR(weights["host_computing"], 1, 1e-9);
  difference.parts = {{"host_computing", "", 3000, ""}, {"node:Conv", "", 3000, ""}};
  weights = {{"slower_execution", 0.6}, {"host_computing", 0.4}};
  apply_account(alone(), alone(), difference, weights);
  EXPECT_NEAR(weights["slower_execution"], 0.6, 1e-9) << "the nodes take longer too";
}

}  // namespace
}  // namespace aaco::analytics::rootcause
