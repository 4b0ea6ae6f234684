#include "collectors/proc/proc_collector.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/collector_bench.h"
#include "tests/support/fake_machine.h"

namespace aaco::collectors::proc {
namespace {

using aaco::testing::CollectorBench;
using aaco::testing::FakeMachine;

// The server of tests/fixtures/machines with process 4711 and its child 4720, opened and sampled once.
struct Bench {
  FakeMachine machine{"epyc_mi300x", {"proc", "sys/fs", "sys/class/powercap", "sys/devices/system/cpu"}};
  CollectorBench bench{make_collector, machine.root(), {.process_id = 4711}};
  Bench() {
    EXPECT_TRUE(bench.open());
    bench.sample_after(0);
  }
  // Both threads of 4711 and its own files move on.
  void stat(std::int64_t pid, int ticks, int minor, int rss) const {
    machine.write("/proc/" + std::to_string(pid) + "/stat", std::to_string(pid) + " (x) S 1 1 1 0 -1 0 " + std::to_string(minor) +
                                                                " 50 10 2 " + std::to_string(ticks) + " 20 5 1 20 0 2 0 5000 1 " +
                                                                std::to_string(rss) + " 1\n");
  }
};

TEST(ProcCollector, FirstSampleHasNoRates) {
  const Bench b;
  EXPECT_EQ(b.bench.value("process.rss_bytes", "tree"), (2560 + 1024) * 4096.0);
  EXPECT_EQ(b.bench.value("process.rss_bytes", "pid 4720"), 1024 * 4096.0);
  EXPECT_EQ(b.bench.value("process.count", "tree"), 2);
  EXPECT_EQ(b.bench.value("process.threads_count", "tree"), 3);
  EXPECT_EQ(b.bench.value("system.load_1min"), 1.25);
  EXPECT_EQ(b.bench.value("system.running_count"), 3);
  EXPECT_EQ(b.bench.value("memory.available_bytes"), 1510000000.0 * 1024);
  EXPECT_EQ(b.bench.value("cgroup.memory_bytes", "cgroup"), 536870912);
  EXPECT_EQ(b.bench.value("process.rss_peak_bytes", "pid 4711"), (2560 * 4 + 400) * 1024.0);
  EXPECT_EQ(b.bench.value("cpu.energy_joules", "package-0"), 0);
  for (const char* metric : {"cpu.use_ratio", "system.context_switches_per_second", "pressure.cpu_some_ratio",
                             "memory.faults_per_second", "cpu.power_watts"})
    EXPECT_EQ(b.bench.value(metric), std::nullopt) << metric;
  for (const char* metric : {"process.cpu_use_cores", "process.minor_faults_per_second", "process.voluntary_switches_per_second",
                             "process.run_queue_wait_ratio"})
    EXPECT_EQ(b.bench.value(metric, "tree"), std::nullopt) << metric;
}
TEST(ProcCollector, CpuUseAndFaultsAreRatesOverTheTree) {
  Bench b;
  b.stat(4711, 150, 1500, 3000);  // 50 ticks of 10 ms, 500 faults
  b.stat(4720, 90, 1000, 1024);   // another 50 ticks
  b.bench.sample_after(2);
  EXPECT_DOUBLE_EQ(b.bench.value("process.cpu_use_cores", "tree").value_or(-1), 0.5);
  EXPECT_DOUBLE_EQ(b.bench.value("process.minor_faults_per_second", "tree").value_or(-1), 250);
  EXPECT_EQ(b.bench.value("process.major_faults_per_second", "tree"), 0);
  EXPECT_EQ(b.bench.value("process.rss_bytes", "tree"), (3000 + 1024) * 4096.0);
}
TEST(ProcCollector, WaitAndSwitchesAreSummedOverThreads) {
  Bench b;
  b.machine.write("/proc/4711/task/4711/schedstat", "2000000000 105000000 500\n");
  b.machine.write("/proc/4711/task/4712/schedstat", "2000000000 305000000 500\n");
  b.machine.write("/proc/4711/task/4712/status", "voluntary_ctxt_switches:\t140\nnonvoluntary_ctxt_switches:\t22\n");
  b.bench.sample_after(2);
  EXPECT_DOUBLE_EQ(b.bench.value("process.run_queue_wait_ratio", "tree").value_or(-1), 0.2);
  EXPECT_DOUBLE_EQ(b.bench.value("process.voluntary_switches_per_second", "tree").value_or(-1), 20);
  EXPECT_DOUBLE_EQ(b.bench.value("process.involuntary_switches_per_second", "tree").value_or(-1), 1);
}
TEST(ProcCollector, CoresPressureAndPagingAreSharesOfTheInterval) {
  Bench b;
  b.machine.write("/proc/stat",
                  "cpu  1100 0 500 8100 100 20 30 50 0 0\ncpu0 300 0 125 2050 25 5 8 12 0 0\ncpu1 300 0 125 2050 25 5 8 12 0 0\n"
                  "cpu3 250 0 125 2100 25 5 7 13 0 0\nctxt 1002000\nprocesses 5010\n");
  b.machine.write("/proc/pressure/cpu", "some avg10=0 total=1500000\nfull avg10=0 total=500000\n");
  b.machine.write("/proc/vmstat", "pgpgin 1100\npgfault 101000\n");
  b.bench.sample_after(2);
  EXPECT_DOUBLE_EQ(b.bench.value("cpu.use_ratio").value_or(-1), 0.5);
  EXPECT_DOUBLE_EQ(b.bench.value("cpu.use_ratio", "cpu0").value_or(-1), 0.5);
  EXPECT_EQ(b.bench.value("cpu.use_ratio", "cpu2"), std::nullopt);  // gone off line
  EXPECT_DOUBLE_EQ(b.bench.value("cpu.use_ratio", "cpu3").value_or(-1), 0.0);
  EXPECT_DOUBLE_EQ(b.bench.value("system.context_switches_per_second").value_or(-1), 1000);
  EXPECT_DOUBLE_EQ(b.bench.value("system.processes_created_per_second").value_or(-1), 5);
  EXPECT_DOUBLE_EQ(b.bench.value("pressure.cpu_some_ratio").value_or(-1), 0.25);
  EXPECT_EQ(b.bench.value("pressure.cpu_full_ratio"), 0);
  EXPECT_DOUBLE_EQ(b.bench.value("memory.paged_in_bytes_per_second").value_or(-1), 51200);
  EXPECT_EQ(b.bench.value("memory.swap_in_pages_per_second"), std::nullopt);  // the line has gone
}
TEST(ProcCollector, ReadsThrottlingOfTheQuotaGroup) {
  Bench b;
  b.machine.write("/sys/fs/cgroup/kubepods.slice/kubepods-pod0a1b2c3d_1111_2222_3333_444455556666.slice/cpu.stat",
                  "usage_usec 6000000\nnr_periods 120\nnr_throttled 20\nthrottled_usec 1250000\n");
  b.bench.sample_after(2);
  EXPECT_DOUBLE_EQ(b.bench.value("cgroup.throttled_ratio", "cgroup").value_or(-1), 0.5);
  EXPECT_DOUBLE_EQ(b.bench.value("cgroup.throttled_periods_per_second", "cgroup").value_or(-1), 5);
  EXPECT_DOUBLE_EQ(b.bench.value("cgroup.cpu_use_cores", "cgroup").value_or(-1), 0.5);
}
TEST(ProcCollector, FollowsAProcessIntoAnotherGroup) {
  Bench b;
  const auto throttled = [&](int us) {
    b.machine.write("/sys/fs/cgroup/job/cpu.stat",
                    "usage_usec 1000\nnr_periods 10\nnr_throttled 5\nthrottled_usec " + std::to_string(us) + "\n");
  };
  throttled(0);
  b.machine.write("/proc/4711/cgroup", "0::/job\n");
  b.bench.sample_after(1);
  EXPECT_EQ(b.bench.value("cgroup.throttled_ratio", "cgroup"), std::nullopt) << "no rate across two groups";
  throttled(600'000);
  b.bench.sample_after(1);
  EXPECT_DOUBLE_EQ(b.bench.value("cgroup.throttled_ratio", "cgroup").value_or(-1), 0.6);
}
// The fake machine has four CPUs. A sample right after a late one sees the CPU time of both intervals.
TEST(ProcCollector, MoreCpuTimeThanTheMachineHasIsNeverStored) {
  Bench b;
  b.stat(4711, 100 + 160, 1000, 2560);  // 1.6 s of CPU time in 0.2 s
  b.bench.sample_after(0.2);
  EXPECT_EQ(b.bench.value("process.cpu_use_cores", "tree"), std::nullopt);
  b.bench.sample_after(0.3);
  EXPECT_NEAR(b.bench.value("process.cpu_use_cores", "tree").value_or(-1), 1.6 / 0.5, 1e-6) << "its CPU time is not lost";
  b.machine.write("/sys/fs/cgroup/kubepods.slice/kubepods-pod0a1b2c3d_1111_2222_3333_444455556666.slice/cpu.stat",
                  "usage_usec 16000000\nnr_periods 120\nnr_throttled 20\nthrottled_usec 1250000\n");
  b.bench.sample_after(1);
  EXPECT_EQ(b.bench.value("cgroup.cpu_use_cores", "cgroup"), std::nullopt) << "11 s in 1.5 s";
}
TEST(ProcCollector, EnergyFollowsACounterThatWraps) {
  Bench b;
  b.machine.write("/sys/class/powercap/intel-rapl:0/energy_uj", "21000000\n");
  b.bench.sample_after(2);
  EXPECT_DOUBLE_EQ(b.bench.value("cpu.power_watts", "package-0").value_or(-1), 10);
  b.machine.write("/sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");  // the range is 65532.610987 J
  b.bench.sample_after(2);
  EXPECT_NEAR(b.bench.value("cpu.energy_joules", "package-0").value_or(-1), 20 + 65532.610987 - 20, 1e-6);
  EXPECT_EQ(b.bench.value("cpu.energy_joules", "package-0 core"), 0);
}
TEST(ProcCollector, MemoryBandwidthComesFromTheHardwareCounterOnly) {
  Bench b;
  b.machine.write("/sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "5000000\n");
  b.bench.sample_after(2);
  EXPECT_DOUBLE_EQ(b.bench.value("memory.bandwidth_bytes_per_second", "L3 00").value_or(-1), 2e6);
  EXPECT_EQ(b.bench.value("memory.bandwidth_bytes_per_second", "L3 01"), std::nullopt);
  EXPECT_EQ(b.bench.collector().account().dropped.at("resctrl.mbm: counter unavailable"), 2);
}
TEST(ProcCollector, RatesRestartAfterPauseButEnergyContinues) {
  Bench b;
  b.stat(4711, 150, 1500, 3000);
  b.machine.write("/sys/class/powercap/intel-rapl:0/energy_uj", "21000000\n");
  b.bench.collector().forget();
  b.bench.sample_after(2);
  for (const char* metric : {"process.cpu_use_cores", "process.minor_faults_per_second", "process.run_queue_wait_ratio"})
    EXPECT_EQ(b.bench.value(metric, "tree"), std::nullopt) << metric;
  EXPECT_EQ(b.bench.value("cpu.use_ratio"), std::nullopt);
  EXPECT_EQ(b.bench.value("cpu.power_watts", "package-0"), std::nullopt);
  EXPECT_EQ(b.bench.value("cpu.energy_joules", "package-0"), 20);
}
TEST(ProcCollector, EndedChildLeavesTheTree) {
  Bench b;
  b.machine.remove("/proc/4720");
  b.bench.sample_after(2);
  EXPECT_EQ(b.bench.value("process.count", "tree"), 1);
  EXPECT_EQ(b.bench.value("process.rss_bytes", "pid 4711"), std::nullopt);  // alone, the tree says it all
}
TEST(ProcCollector, LateChildCountsFromSecondSample) {
  Bench b;
  b.machine.write("/proc/4711/task/4711/children", "4720 4730 ");
  b.machine.write("/proc/4730/task/4730/schedstat", "1 1 1\n");
  b.stat(4730, 900, 5, 100);
  b.bench.sample_after(2);
  EXPECT_EQ(b.bench.value("process.count", "tree"), 3);
  EXPECT_EQ(b.bench.value("process.cpu_use_cores", "tree"), 0);
  b.stat(4730, 1000, 5, 100);
  b.bench.sample_after(2);
  EXPECT_DOUBLE_EQ(b.bench.value("process.cpu_use_cores", "tree").value_or(-1), 0.5);
}
TEST(ProcCollector, WithoutChildrenFilesTheTreeIsFoundByParents) {
  const FakeMachine machine("epyc_mi300x", {"proc"});
  for (const char* file : {"/proc/4711/task/4711/children", "/proc/4711/task/4712/children", "/proc/4720/task/4720/children"})
    machine.remove(file);
  CollectorBench bench(make_collector, machine.root(), {.process_id = 4711});
  ASSERT_TRUE(bench.open());
  bench.sample_after(0);
  EXPECT_EQ(bench.value("process.count", "tree"), 2);
}
TEST(ProcCollector, ExpensiveFilesAreReadAtTheirOwnRate) {
  Bench b;
  std::set<int> steps;
  for (int step = 1; step <= 100; ++step) {
    b.bench.sample_after(0.01);
    if (!b.bench.all("system.running_count").empty()) steps.insert(step);
    EXPECT_EQ(b.bench.all("process.cpu_use_cores", "tree").size(), 1U);
  }
  EXPECT_NEAR(static_cast<double>(steps.size()), 10, 1);
}
TEST(ProcCollector, MissingFileDoesNotStopOthers) {
  Bench b;
  b.machine.write("/proc/loadavg", "");
  b.machine.write("/proc/stat", "nonsense\n");
  b.bench.sample_after(2);
  EXPECT_EQ(b.bench.collector().account().dropped.at("proc.loadavg: read failed"), 1);
  EXPECT_EQ(b.bench.collector().account().dropped.at("proc.stat: read failed"), 1);
  EXPECT_TRUE(b.bench.value("process.rss_bytes", "tree"));
}
TEST(ProcCollector, MissingProcessStillObservesTheMachine) {
  const FakeMachine machine("epyc_mi300x", {"proc"});
  CollectorBench bench(make_collector, machine.root(), {.process_id = 999});
  ASSERT_TRUE(bench.open());
  bench.sample_after(0);
  EXPECT_EQ(bench.collector().account().state, trace::Account::State::partial);
  EXPECT_NE(bench.collector().account().reason.find("999"), std::string::npos);
  EXPECT_TRUE(bench.value("memory.free_bytes"));
}
TEST(ProcCollector, AnEmptyMachineIsRefused) {
  const FakeMachine machine;
  CollectorBench bench(make_collector, machine.root());
  EXPECT_FALSE(bench.open());
}
TEST(ProcCollector, WithoutAProcessOnlyTheMachineIsObserved) {
  const FakeMachine machine("epyc_mi300x", {"proc"});
  CollectorBench bench(make_collector, machine.root());
  ASSERT_TRUE(bench.open());
  bench.sample_after(0);
  EXPECT_TRUE(bench.all("process.rss_bytes", "tree").empty());
  EXPECT_TRUE(bench.value("system.load_1min"));
}

}  // namespace
}  // namespace aaco::collectors::proc
