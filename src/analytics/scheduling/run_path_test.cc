#include "analytics/run_path.h"

#include <gtest/gtest.h>

#include <optional>

namespace aaco::analytics::scheduling {
namespace {

class Path : public ::testing::Test {
 protected:
  void row(std::int64_t thread, std::string_view kind, std::int64_t from, std::int64_t to, std::string_view call = "",
           std::optional<std::int64_t> other = {}, std::string_view detail = "sleep") {
    trace::SchedEventRow one;
    one.thread_id = thread;
    one.time_ns = from;
    one.duration_ns = to - from;
    one.other_thread_id = other;
    path_.add(one, kind, kind == "off_cpu" ? detail : "", call);
  }
  double asleep(const RunPath::Totals& totals, const std::string& call, const std::string& detail = "sleep") {
    const auto found = totals.asleep.find({detail, call});
    return found == totals.asleep.end() ? 0 : found->second.ns;
  }
  RunPath path_;
};

TEST_F(Path, DividesTheTimeOfOneThread) {
  row(1, "run", 100, 130);
  row(1, "off_cpu", 130, 180, "write", 9);  // the reader is no thread of the program
  row(1, "run_queue", 180, 185);
  row(1, "run", 185, 200);
  const auto totals = path_.totals(1);
  EXPECT_EQ(totals.running.at(1).ns, 45);
  EXPECT_EQ(totals.runnable.ns, 5);
  EXPECT_EQ(asleep(totals, "write"), 50);
  EXPECT_EQ(totals.sum_ns(), 100);
}

TEST_F(Path, AWaitForAChildIsWhatTheChildDid) {
  row(1, "run", 0, 10);
  row(1, "off_cpu", 10, 100, "wait4", 2);
  row(2, "run_queue", 12, 20);
  row(2, "run", 20, 70);
  row(2, "off_cpu", 70, 99, "", {}, "io");
  row(1, "run", 100, 110);
  const auto totals = path_.totals(1);
  EXPECT_EQ(totals.running.at(2).ns, 50);
  EXPECT_EQ(totals.running.at(1).ns, 20);
  EXPECT_EQ(totals.runnable.ns, 8);
  EXPECT_EQ(asleep(totals, "", "io"), 29);
  EXPECT_EQ(asleep(totals, "wait4"), 3);  // before the child's first event and after its last
  EXPECT_EQ(totals.sum_ns(), 110);
}

TEST_F(Path, TwoThreadsThatHandOverCountOnce) {
  row(1, "run", 0, 10);
  row(1, "off_cpu", 10, 50, "futex", 2);
  row(2, "run", 0, 12);
  row(2, "off_cpu", 12, 20, "futex", 3);
  row(3, "run", 0, 21);
  row(2, "run", 20, 60);
  row(1, "run", 50, 55);
  const auto totals = path_.totals(1);
  EXPECT_EQ(totals.sum_ns(), 55);
  EXPECT_EQ(totals.running.at(3).ns, 8);
  EXPECT_EQ(totals.running.at(2).ns, 32);
}

TEST_F(Path, AWaitForACpuAfterASleepBelongsToThatSleep) {
  row(1, "run", 0, 10);
  row(1, "off_cpu", 10, 30, "fdatasync", {}, "io");
  row(1, "run_queue", 30, 70);
  row(1, "run", 70, 80);
  row(1, "run_queue", 80, 95);  // preempted
  row(1, "run", 95, 100);
  const auto totals = path_.totals(1);
  EXPECT_EQ(totals.runnable.ns, 55);
  ASSERT_EQ(totals.woken.size(), 1u);
  EXPECT_EQ(totals.woken.at({"io", "fdatasync"}).ns, 40);
  EXPECT_EQ(totals.woken.at({"io", "fdatasync"}).count, 1);
}

TEST_F(Path, ThreadsThatWakeEachOtherEnd) {
  row(1, "off_cpu", 0, 100, "futex", 2);
  row(2, "off_cpu", 0, 100, "futex", 1);
  EXPECT_EQ(path_.totals(1).sum_ns(), 100);
}

TEST_F(Path, TimeWithoutAnEventIsInNoPart) {
  row(1, "run", 0, 10);
  row(1, "run", 90, 100);
  EXPECT_EQ(path_.totals(1).sum_ns(), 20);
}

TEST_F(Path, OverlappingRowsOfADamagedFileCountOnce) {
  row(1, "run", 0, 80);
  row(1, "off_cpu", 10, 100, "write");
  EXPECT_EQ(path_.totals(1).sum_ns(), 100);
}

TEST_F(Path, OtherRowsAndOtherThreadsAreNothing) {
  row(1, "irq", 0, 100);
  row(1, "run", 50, 50);
  EXPECT_EQ(path_.totals(1).sum_ns(), 0);
  EXPECT_EQ(path_.totals(7).sum_ns(), 0);
}

}  // namespace
}  // namespace aaco::analytics::scheduling
