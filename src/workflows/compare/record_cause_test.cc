#include "workflows/compare/record_cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kSecond = 1e9;

RecordAccount account(double wall_s, const std::map<std::string, double>& parts_s) {
  RecordAccount out;
  out.wall_ns = wall_s * kSecond;
  out.recorded = true;
  for (const auto& [id, seconds] : parts_s) out.parts[id] = seconds * kSecond;
  return out;
}

double sum_of(const analytics::rootcause::Decomposition& difference) {
  double sum = difference.unexplained_ns;
  for (const auto& part : difference.parts) sum += part.ns;
  return sum;
}

TEST(RecordCause, PartsAndTheUnexplainedAddUp) {
  const auto difference = decompose(account(2, {{"computing", 1}, {"run_queue_wait", 0.5}}),
                                    account(7, {{"computing", 0.8}, {"run_queue_wait", 1}, {"asleep:file lock", 5}}));
  EXPECT_NEAR(sum_of(difference), 5 * kSecond, 1);
  ASSERT_EQ(difference.parts.size(), 3u);
  EXPECT_EQ(difference.parts[0].id, "asleep:file lock");
  EXPECT_NEAR(difference.unexplained_ns, -0.3 * kSecond, 1) << "nothing is clipped";
}

TEST(RecordCause, TheLargestPartIsFirst) {
  const auto found =
      cause_of_accounts(account(1, {{"computing", 0.9}}), account(4, {{"computing", 1}, {"asleep:pipe or network", 2.8}}), {});
  EXPECT_TRUE(found.cause.starts_with("asleep: pipe or network (93.3 % of the difference)")) << found.cause;
  EXPECT_THAT(found.recommendation, HasSubstr("other end of the pipe"));
}

TEST(RecordCause, TwoLargePartsAreBothNamed) {
  const auto found =
      cause_of_accounts(account(1, {{"computing", 1}}), account(3, {{"computing", 1.9}, {"run_queue_wait", 1.1}}), {});
  EXPECT_THAT(found.cause, HasSubstr("waiting for a CPU (55.0 % of the difference), and computing (45.0 % of the difference)"));
}

TEST(RecordCause, WaitsThatGrowWithTheComputingFollowFromIt) {
  const auto found = cause_of_accounts(account(2.7, {{"computing", 0.5}, {"run_queue_wait", 2}}),
                                       account(10.4, {{"computing", 2}, {"run_queue_wait", 8.2}}), {});
  EXPECT_TRUE(found.cause.starts_with("computing (19.5 % of the difference), and waiting for a CPU, which grew in proportion"))
      << found.cause;
  const auto other = cause_of_accounts(account(2.7, {{"computing", 0.5}, {"run_queue_wait", 2}}),
                                       account(12, {{"computing", 0.5}, {"run_queue_wait", 11.3}}), {});
  EXPECT_TRUE(other.cause.starts_with("waiting for a CPU (100 % of the difference)")) << other.cause;
}

RecordAccount syncing(double wall_s, double asleep_s, double wakes, double woken_s, double waiting_s) {
  auto out = account(wall_s, {{"asleep:storage", asleep_s}, {"run_queue_wait", waiting_s}});
  out.sleeps["asleep:storage"] = {{{"fdatasync", asleep_s * kSecond}}, wakes, woken_s * kSecond};
  return out;
}

TEST(RecordCause, WaitsForACpuAtTheWakeUpsOfNewSleepsBelongToTheSleeps) {
  const auto found = cause_of_accounts(syncing(1, 0, 0, 0, 0.9), syncing(11, 2, 3000, 7, 8.5), {});
  EXPECT_TRUE(
      found.cause.starts_with("asleep: storage (fdatasync), then waiting for a CPU at its wake-ups (90.0 % of the difference)"))
      << found.cause;
  EXPECT_THAT(found.recommendation, HasSubstr("fsync"));
  const auto difference = decompose(syncing(1, 0, 0, 0, 0.9), syncing(11, 2, 3000, 7, 8.5));
  EXPECT_NEAR(sum_of(difference), 10 * kSecond, 1);
  EXPECT_THAT(difference.parts.front().evidence, HasSubstr("+7.00 s for a CPU at 3,000 more wake-ups"));
  const auto back = decompose(syncing(11, 2, 3000, 7, 8.5), syncing(1, 0, 0, 0, 0.9));
  EXPECT_NEAR(back.parts.front().ns, -9 * kSecond, 1) << "the same from the other side";
}

TEST(RecordCause, LongerWaitsAtAsManyWakeUpsAreNotTheSleeps) {
  const auto found = cause_of_accounts(syncing(3, 1.5, 3000, 0.5, 1), syncing(11, 1.6, 3000, 8.2, 8.8), {});
  EXPECT_TRUE(found.cause.starts_with("waiting for a CPU")) << found.cause;
}

TEST(RecordCause, TheCallIsNamedInWhichItSlept) {
  auto a = account(1, {{"computing", 1}}), b = account(4, {{"computing", 1}, {"asleep:pipe or network", 3}});
  b.sleeps["asleep:pipe or network"].calls = {{"recvfrom", 2.7 * kSecond}, {"write", 0.3 * kSecond}};
  EXPECT_TRUE(cause_of_accounts(a, b, {}).cause.starts_with("asleep: pipe or network (recvfrom) ("));
  b.sleeps["asleep:pipe or network"].calls = {{"", 3 * kSecond}};
  EXPECT_TRUE(cause_of_accounts(a, b, {}).cause.starts_with("asleep: pipe or network (100 %"));
}

TEST(RecordCause, KernelTimeIsNamedByWhatCameWithIt) {
  auto a = account(1, {{"kernel", 0.1}}), b = account(3, {{"kernel", 2.1}});
  EXPECT_THAT(cause_of_accounts(a, b, {}).cause, HasSubstr("kernel time: system calls"));
  b.faults = 1'000'000;
  EXPECT_THAT(cause_of_accounts(a, b, {}).cause, HasSubstr("kernel time: page faults"));
}

TEST(RecordCause, AMemoryLimitIsWhyStorageIsRead) {
  auto a = account(1, {{"asleep:storage", 0}}), b = account(4, {{"asleep:storage", 3}});
  b.memory_limit_hits = 5000;
  EXPECT_TRUE(cause_of_accounts(a, b, {}).cause.starts_with("memory limit of the control group"));
}

TEST(RecordCause, ATracerComesFirst) {
  auto a = account(1, {{"computing", 1}}), b = account(5, {{"computing", 3}, {"run_queue_wait", 2}});
  b.traced_stops = 120'000;
  EXPECT_TRUE(cause_of_accounts(a, b, {}).cause.starts_with("a tracer (strace, gdb) stopped it 120,000 times"));
}

TEST(RecordCause, ATracerIsNamedWithoutEventsToo) {
  const std::vector<hardware::Difference> traced = {
      {"process.tracer", "none", "gdb", hardware::Severity::soft, "traced by ptrace"}};
  const auto slow = account(5, {{"computing", 3}, {"run_queue_wait", 2}}), fast = account(1, {{"computing", 1}});
  EXPECT_TRUE(cause_of_accounts(fast, slow, traced).cause.starts_with("a tracer (gdb) on side B, and"));
  EXPECT_THAT(cause_of_accounts(slow, fast, traced).cause, Not(HasSubstr("a tracer (gdb) on side B,")))
      << "it was the faster one";
}

TEST(RecordCause, WhatDiffersBetweenTheSidesIsSaidAndUndone) {
  const std::vector<hardware::Difference> differences = {
      {"command", "./w 1", "./w 2", hardware::Severity::changed, "different command"},
      {"measured_with", "none", "--ebpf", hardware::Severity::soft, ""}};
  const auto found = cause_of_accounts(account(1, {{"computing", 1}}), account(2, {{"computing", 2}}), differences);
  EXPECT_THAT(found.cause, HasSubstr("A and B also differ in command: ./w 1 vs ./w 2"));
  EXPECT_THAT(found.cause, Not(HasSubstr("measured_with")));
  EXPECT_THAT(found.recommendation, HasSubstr("undo what differs"));
}

TEST(RecordCause, WithoutEventsItSaysHowToGetThem) {
  auto a = account(1, {{"computing", 1}}), b = account(4, {{"computing", 1}, {"asleep:cause not recorded", 3}});
  a.recorded = b.recorded = false;
  EXPECT_THAT(cause_of_accounts(a, b, {}).recommendation, HasSubstr("aaco record --ebpf"));
}

TEST(RecordCause, AFasterBNeedsNothing) {
  const auto found = cause_of_accounts(account(4, {{"computing", 4}}), account(1, {{"computing", 1}}), {});
  EXPECT_THAT(found.cause, HasSubstr("the run takes 3.00 s less"));
  EXPECT_THAT(found.recommendation, HasSubstr("no action needed"));
}

TEST(RecordCause, SleepGetsOtherAdviceThanAnIdleMachine) {
  const auto of = [](const RecordAccount& a, const RecordAccount& b) { return next_of_recordings(decompose(a, b)); };
  EXPECT_THAT(of(account(1, {}), account(2, {{"asleep:timer", 1}})), HasSubstr("which an idle machine does not change"));
  EXPECT_EQ(of(account(1, {}), account(2, {{"run_queue_wait", 1}})), "");
  EXPECT_EQ(of(account(1, {}), account(1, {})), "");
}

TEST(RecordCause, TheMeanOfSessions) {
  const auto mean = mean_account({account(1, {{"computing", 1}}), account(3, {{"computing", 1}, {"asleep:timer", 2}})});
  EXPECT_EQ(mean.wall_ns, 2 * kSecond);
  EXPECT_EQ(mean.parts.at("asleep:timer"), kSecond);
}

}  // namespace
}  // namespace aaco::workflows
