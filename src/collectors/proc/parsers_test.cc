#include <gtest/gtest.h>

#include "collectors/proc/cgroup_source.h"
#include "collectors/proc/cpu_stat.h"
#include "collectors/proc/machine_sources.h"
#include "collectors/proc/process_files.h"

namespace aaco::collectors::proc {
namespace {

const std::string kStatLine =
    "7 (a) b) (c) R 3 7 7 0 -1 4194304 11 12 13 14 15 16 17 18 20 0 5 0 99 1000 321 18446744073709551615";

TEST(ProcessStatText, ReadsPastParenthesesInTheName) {
  const auto stat = parse_process_stat(kStatLine);
  ASSERT_TRUE(stat);
  EXPECT_EQ(*stat, (ProcessStat{'R', 3, 7, 11, 13, 15, 16, 17, 18, 5, 99, 321}));
}
TEST(ProcessStatText, RefusesEveryCutText) {
  const std::size_t last = kStatLine.find(" 321");
  for (std::size_t at = 0; at <= last; at = kStatLine.find(' ', at + 1))
    EXPECT_FALSE(parse_process_stat(kStatLine.substr(0, at))) << at;
  EXPECT_FALSE(parse_process_stat("7 (a) R x"));
  EXPECT_FALSE(parse_process_stat(std::string("7 (a) R 1 1 1 0 -1 0 99999999999999999999999 0 0 0 0 0 0 0 0 0 1 0 9 1 1")));
}
TEST(SchedStatText, ReadsThreeNumbers) { EXPECT_EQ(parse_sched_stat("10 20 3\n"), (SchedStat{10, 20, 3})); }
TEST(SchedStatText, RefusesLess) {
  for (const char* text : {"", "1", "1 2", "a b c", "-1 2 3", "1 2 x"}) EXPECT_FALSE(parse_sched_stat(text)) << text;
}
TEST(StatusText, ReadsItsLines) {
  const auto status = parse_process_status(
      "Name:\tx\nVmHWM:\t  12 kB\nVmSwap:\t 1 kB\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n");
  EXPECT_EQ(status, (ProcessStatus{12288, 1024, 5, 6}));
}
TEST(StatusText, MissingOrDamagedLinesAreEmpty) {
  EXPECT_EQ(parse_process_status(""), ProcessStatus{});
  EXPECT_EQ(parse_process_status("VmHWM:\nVmSwap: x kB\nVmHWM2: 5\nvoluntary_ctxt_switches:"), ProcessStatus{});
  EXPECT_EQ(parse_process_status("VmHWM: 18446744073709551615 kB\n"), ProcessStatus{});
}
TEST(SystemStatText, ReadsCoresAndCounters) {
  SystemStat stat;
  ASSERT_TRUE(parse_system_stat(
      "cpu  4 0 2 10 1 1 1 1 9 9\ncpu0 2 0 1 5 0 0 0 0\ncpu12 2 0 1 5\nintr 5 0 1\nctxt 7\nprocs_running 2\n", stat));
  EXPECT_EQ(stat.machine, (CpuTimes{4, 0, 2, 10, 1, 1, 1, 1}));
  ASSERT_EQ(stat.cores.size(), 2U);
  EXPECT_EQ(stat.cores[1].number, 12);
  EXPECT_EQ(stat.context_switches, 7);
  EXPECT_EQ(stat.interrupts, 5);
  EXPECT_EQ(stat.blocked, std::nullopt);
}
TEST(SystemStatText, RefusesInvalidText) {
  SystemStat stat;
  for (const char* text : {"", "cpu", "cpu  1 2 3", "cpu0 1 2 3 4", "ctxt 7\ncpu  1 2 3 4", "cpu  1 2 3 4\ncpux 1 2 3 4",
                           "cpu  1 2 3 4\ncpu99999999 1 2 3 4"})
    EXPECT_FALSE(parse_system_stat(text, stat)) << text;
}
TEST(CpuShares, AreSharesOfTheTimePassed) {
  const auto shares = cpu_shares({0, 0, 0, 0, 0, 0, 0, 0}, {30, 10, 5, 40, 5, 2, 3, 5});
  ASSERT_TRUE(shares);
  EXPECT_DOUBLE_EQ(shares->use, 0.5);
  EXPECT_DOUBLE_EQ(shares->user, 0.4);
  EXPECT_DOUBLE_EQ(shares->steal, 0.05);
}
TEST(CpuShares, BackwardCounterCountsAsUnchanged) {
  const auto shares = cpu_shares({10, 0, 0, 10, 100, 0, 0, 0}, {20, 0, 0, 20, 90, 0, 0, 0});
  ASSERT_TRUE(shares);
  EXPECT_DOUBLE_EQ(shares->use, 0.5);
  EXPECT_EQ(shares->iowait, 0);
}
TEST(CpuShares, NoShareWithoutElapsedTime) { EXPECT_FALSE(cpu_shares({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8})); }
TEST(PressureText, ReadsTotals) {
  EXPECT_EQ(parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n"),
            (Pressure{12, 3}));
  EXPECT_EQ(parse_pressure("some avg10=0.00 total=12"), (Pressure{12, std::nullopt}));
}
TEST(PressureText, RefusesDamage) {
  for (const char* text : {"", "some", "some total=", "some total=x", "total=5", "other total=5"})
    EXPECT_EQ(parse_pressure(text), Pressure{}) << text;
}
TEST(CgroupCpuStatText, ReadsBothVersions) {
  EXPECT_EQ(parse_cgroup_cpu_stat("usage_usec 5\nnr_periods 4\nnr_throttled 2\nthrottled_usec 3\n"),
            (CgroupCpuStat{5000, 3000, 4, 2}));
  EXPECT_EQ(parse_cgroup_cpu_stat("nr_periods 4\nnr_throttled 2\nthrottled_time 3\n"), (CgroupCpuStat{std::nullopt, 3, 4, 2}));
}
TEST(CgroupCpuStatText, DamageIsEmpty) {
  EXPECT_EQ(parse_cgroup_cpu_stat("usage_usec\nnr_periods x\nnr_throttled_more 4\n"), CgroupCpuStat{});
  EXPECT_EQ(parse_cgroup_cpu_stat("usage_usec 18446744073709551615\n"), CgroupCpuStat{});
}

}  // namespace
}  // namespace aaco::collectors::proc
