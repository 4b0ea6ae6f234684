#include "analytics/rootcause.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/rootcause/sides_testing.h"
#include "analytics/sleep_causes.h"

namespace aaco::analytics::rootcause {
namespace {

double sum_of(const Decomposition& difference) {
  double sum = difference.unexplained_ns;
  for (const Part& part : difference.parts) sum += part.ns;
  return sum;
}

double part_of(const Decomposition& difference, std::string_view id) {
  for (const Part& part : difference.parts)
    if (part.id == id) return part.ns;
  return 0;
}

TEST(Decompose, PartsAddUpToTheWhole) {
  Side b = calm();
  b.call_ns = 1700;
  b.account->wait_ns = 300;
  b.account->others_wait_ns = 150;
  b.account->blocked_ns = 100;
  b.account->cpu_ns = 1300;
  const auto difference = decompose(calm(), b);
  ASSERT_TRUE(difference);
  EXPECT_DOUBLE_EQ(difference->delta_ns, 700);
  EXPECT_NEAR(sum_of(*difference), 700, 1e-9);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), 300, 1e-9) << "the caller's own";
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 100, 1e-9);
  EXPECT_NEAR(part_of(*difference, "computing"), 300, 1e-9);
  EXPECT_NEAR(difference->unexplained_ns, 0, 1e-9);
  const core::Json document = to_json(*difference);
  EXPECT_EQ(document["account"]["candidate"]["others_wait_ns"].as_f64(), 150);
  EXPECT_EQ(document["account"]["candidate"]["caller_wait_ns"].as_f64(), 300);
}

TEST(Decompose, OtherThreadsWaitingIsNeverAPart) {
  Side b = calm();
  b.call_ns = 1700;
  b.account->others_wait_ns = 5000;
  b.account->blocked_ns = 700;
  const auto difference = decompose(calm(), b);
  EXPECT_EQ(part_of(*difference, "run_queue_wait"), 0);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 700, 1e-9);
  EXPECT_NE(difference->parts.front().evidence.find("cause not recorded; total CPU wait of other threads"), std::string::npos);
  EXPECT_EQ(first_cause(calm(), b), "cpu_placement") << "what the caller slept for waits for CPUs";
}

// Metrics of a watched run that slept so long for each cause, per iteration.
trace::Metrics slept(const std::map<scheduling::SleepCause, double>& ns) {
  trace::Metrics out;
  for (std::size_t i = 0; i < scheduling::kSleepCauses; ++i) {
    const auto cause = static_cast<scheduling::SleepCause>(i);
    out.push_back({scheduling::metric_of(cause), ns.contains(cause) ? ns.at(cause) : 0, "ns", {}, {}});
  }
  return out;
}

TEST(Decompose, WatchedSleepIsDividedByItsCause) {
  using scheduling::SleepCause;
  Side a = calm(), b = calm();
  a.metrics = slept({});
  b.call_ns = 1800, b.account->blocked_ns = 800;
  b.metrics =
      slept({{SleepCause::workers_waiting, 50}, {SleepCause::io, 25}, {SleepCause::unknown, 25}});  // of 100 that were watched
  const auto difference = decompose(a, b);
  EXPECT_NEAR(part_of(*difference, "host_waiting:workers_waiting"), 400, 1e-9);
  EXPECT_NEAR(part_of(*difference, "host_waiting:io"), 200, 1e-9);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 200, 1e-9);
  EXPECT_NEAR(sum_of(*difference), 800, 1e-9);
  EXPECT_EQ(first_cause(a, b), "cpu_placement") << "workers wait for CPUs";
  b.metrics = slept({{SleepCause::io, 100}});
  EXPECT_EQ(first_cause(a, b), "storage");
  b.account->storage_bytes = 4096;  // a log beside it
  b.metrics = slept({{SleepCause::peer, 100}});
  EXPECT_EQ(first_cause(a, b), "host_waiting") << "the other end of a socket, whatever is written meanwhile";
  EXPECT_EQ(decompose(a, b)->parts.front().title, "caller asleep: socket, pipe or child process");
}

TEST(Decompose, SleepIsNotDividedWhereOneSideWasNotWatched) {
  Side b = calm();
  b.call_ns = 1800, b.account->blocked_ns = 800;
  b.metrics = slept({{scheduling::SleepCause::io, 100}});
  const auto difference = decompose(calm(), b);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 800, 1e-9);
  EXPECT_EQ(difference->parts.front().title, "caller asleep (cause not recorded)");
}

TEST(Decompose, StopsAreEvidenceForSleep) {
  Side a = calm(), b = calm();
  b.call_ns = 1700, b.account->blocked_ns = 700;
  a.account->stops = 0, b.account->stops = 0.5;
  const auto difference = decompose(a, b);
  EXPECT_NE(difference->parts.front().evidence.find("stopped and continued +0.5 times per call"), std::string::npos);
}

TEST(Decompose, AProfiledPassThatDiffersByMoreIsSaid) {
  Profiled a(600, 300, 0), b(1600, 300, 0);
  b.side.call_ns = b.side.account->wall_ns = 1100, b.side.account->cpu_ns = 1100;
  EXPECT_NEAR(decompose(a.side, b.side)->profile_scale.value_or(0), 0.1, 1e-9);
  b.side.call_ns = b.side.account->wall_ns = 1900, b.side.account->cpu_ns = 1900;
  EXPECT_FALSE(decompose(a.side, b.side)->profile_scale);
}

TEST(Decompose, AwaitedThreadsThatSleepAreAPart) {
  Side a = calm(), b = calm();
  b.call_ns = b.account->wall_ns = 1800, b.account->blocked_ns = 800;
  a.metrics = slept({});
  b.metrics = slept({{scheduling::SleepCause::awaited_thread_asleep, 700}, {scheduling::SleepCause::lock, 100}});
  EXPECT_NEAR(part_of(*decompose(a, b), "host_waiting:awaited_thread_asleep"), 700, 1e-9);
  EXPECT_EQ(first_cause(a, b), "host_waiting");
  // Sessions of versions that did not know this cause.
  std::erase_if(a.metrics, [](const auto& one) { return one.id.find("awaited") != std::string::npos; });
  EXPECT_NEAR(part_of(*decompose(a, b), "host_waiting:awaited_thread_asleep"), 700, 1e-9);
}

TEST(Decompose, PartsAreNotCutToTheDifference) {
  Side b = calm();
  b.call_ns = 1100;
  b.account->wait_ns = 5000;
  b.account->cpu_ns = 1050;
  const auto difference = decompose(calm(), b);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), 5000, 1e-9);
  EXPECT_NEAR(part_of(*difference, "computing"), 50, 1e-9);
  EXPECT_NEAR(difference->unexplained_ns, -4950, 1e-9) << "the counters contradict the clock, and that shows";
}

TEST(Decompose, PartsMayGoTheOtherWay) {
  Side a = calm(), b = calm();
  a.call_ns = 1300, a.account->blocked_ns = 300;
  b.call_ns = 1500, b.account->wait_ns = 500;
  const auto difference = decompose(a, b);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), 500, 1e-9);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), -300, 1e-9);
  EXPECT_EQ(difference->parts.front().id, "run_queue_wait");
}

TEST(Decompose, SymmetricForSpeedups) {
  Side a = calm();
  a.call_ns = 1400;
  a.account->wait_ns = 400;
  const auto difference = decompose(a, calm());
  EXPECT_DOUBLE_EQ(difference->delta_ns, -400);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), -400, 1e-9);
  EXPECT_NEAR(sum_of(*difference), -400, 1e-9);
}

TEST(Decompose, RemainderIsUnexplained) {
  Side b = calm();
  b.call_ns = 1500;
  const auto difference = decompose(calm(), b);
  EXPECT_TRUE(difference->parts.empty());
  EXPECT_DOUBLE_EQ(difference->unexplained_ns, 500);
}

TEST(Decompose, FaultsNeedFaultsAndSleepHasNoCauseFromCounters) {
  Side b = calm();
  b.call_ns = 1600;
  b.account->cpu_ns = 1300;
  b.account->system_ns = 300;
  b.account->blocked_ns = 300;
  auto difference = decompose(calm(), b);
  EXPECT_EQ(part_of(*difference, "page_faults"), 0);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 300, 1e-9);
  b.account->minor_faults = 40;
  b.account->storage_bytes = 4096;
  difference = decompose(calm(), b);
  EXPECT_NEAR(part_of(*difference, "page_faults"), 300, 1e-9);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 300, 1e-9);
  EXPECT_EQ(part_of(*difference, "storage"), 0);
  EXPECT_NEAR(part_of(*difference, "computing"), 0, 1e-9);
}

TEST(Decompose, KernelTimeOfAllThreadsIsNotAllTheCallers) {
  Side b = calm();
  b.call_ns = 1200;
  b.account->cpu_ns = 1200, b.account->process_cpu_ns = 2400;
  b.account->system_ns = 300, b.account->minor_faults = 40;
  const auto difference = decompose(calm(), b);
  EXPECT_NEAR(part_of(*difference, "page_faults"), 150, 1e-9) << "half of the process's CPU time is the caller's";
  EXPECT_NEAR(part_of(*difference, "computing"), 50, 1e-9);
}

TEST(Decompose, CountsConcurrentThrottlingOnce) {
  Side b = calm();
  b.call_ns = 2000;
  b.account->throttled_ns = 2000, b.account->wait_ns = 1000;
  EXPECT_NEAR(part_of(*decompose(calm(), b), "cpu_throttling"), 1000, 1e-9);
}

TEST(Decompose, NothingToDecomposeWithoutCalls) {
  EXPECT_FALSE(decompose(Side(), calm()));
  EXPECT_FALSE(decompose(calm(), Side()));
}

TEST(Decompose, AllUnexplainedWithoutKernelAccounting) {
  Side a, b;
  a.call_ns = 100, b.call_ns = 150;
  EXPECT_DOUBLE_EQ(decompose(a, b)->unexplained_ns, 50);
}

TEST(Decompose, SplitsComputeTimeOverNodes) {
  const Profiled a(600, 300, 100);
  Profiled b(900, 300, 200);
  b.side.call_ns = b.side.account->cpu_ns.emplace(1400);
  const auto difference = decompose(a.side, b.side);
  EXPECT_TRUE(difference->profiled);
  EXPECT_NEAR(part_of(*difference, "node:Conv"), 300, 1e-9);
  EXPECT_NEAR(part_of(*difference, "launch"), 100, 1e-9);
  EXPECT_NEAR(difference->unexplained_ns, 0, 1e-9);
}

TEST(Decompose, ComputingBeyondTheProfileIsNamed) {
  const Profiled a(600, 300, 100);
  Profiled b(700, 300, 100);
  b.side.call_ns = b.side.account->cpu_ns.emplace(2000);
  const auto difference = decompose(a.side, b.side);
  EXPECT_NEAR(part_of(*difference, "node:Conv"), 130, 1e-9);
  EXPECT_NEAR(part_of(*difference, "computing"), 870, 1e-9);
  EXPECT_NEAR(difference->unexplained_ns, 0, 1e-9);
}

TEST(Decompose, CountsNewAndRemovedOperators) {
  const Profiled a(600, 0, 100);
  Profiled b(0, 900, 100);
  b.side.call_ns = b.side.account->cpu_ns.emplace(1300);
  const auto difference = decompose(a.side, b.side);
  EXPECT_NEAR(sum_of(*difference), 300, 1e-9);
  EXPECT_NEAR(part_of(*difference, "node:MatMul"), 900, 1e-9);
  EXPECT_NEAR(part_of(*difference, "node:Conv"), -600, 1e-9);
}

}  // namespace
}  // namespace aaco::analytics::rootcause
