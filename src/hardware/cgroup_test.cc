#include "hardware/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/controller_group.h"
#include "tests/support/fake_machine.h"

namespace aaco::hardware {
namespace {

using aaco::testing::FakeMachine;

TEST(Cgroup, V2FindsTheTightestQuotaAboveAndTheMemoryLimit) {
  const FakeMachine machine("epyc_mi300x");
  const Cgroup cgroup = find_cgroup(machine.root(), 4711);
  EXPECT_EQ(cgroup.version, 2);
  EXPECT_EQ(cgroup.cpu_limit_cores, 2.0);
  EXPECT_TRUE(cgroup.cpu_folder.ends_with("444455556666.slice")) << cgroup.cpu_folder;
  EXPECT_EQ(cgroup.memory_limit_bytes, 8589934592);
  EXPECT_TRUE(cgroup.memory_folder.ends_with(".scope"));
  EXPECT_EQ(cgroup.cpus, "0-3");
}
TEST(Cgroup, V1FindsEachControllerWhereItIsMounted) {
  const FakeMachine machine("xeon_powersave");
  const Cgroup cgroup = find_cgroup(machine.root(), 0);
  EXPECT_EQ(cgroup.version, 1);
  EXPECT_EQ(cgroup.cpu_folder, "/sys/fs/cgroup/cpu,cpuacct/job");
  EXPECT_EQ(cgroup.cpu_limit_cores, 1.5);
  EXPECT_EQ(cgroup.memory_folder, "/sys/fs/cgroup/memory/job");
  EXPECT_EQ(cgroup.memory_limit_bytes, 4294967296);
}
TEST(Cgroup, APathThatIsNotMountedMeansTheMountPoint) {
  const FakeMachine machine("epyc_mi300x");
  machine.write("/proc/self/cgroup", "0::/../../elsewhere\n");
  EXPECT_EQ(find_cgroup(machine.root(), 0).cpu_folder, "/sys/fs/cgroup");
  EXPECT_EQ(find_cgroup(machine.root(), 0).cpu_limit_cores, std::nullopt);
}
TEST(Cgroup, AMachineWithoutGroupsHasNone) {
  const FakeMachine machine;
  EXPECT_EQ(find_cgroup(machine.root(), 0), Cgroup{});
}
TEST(Cgroup, UnmountedHierarchyYieldsNoLimits) {
  const FakeMachine machine("epyc_mi300x");
  machine.write("/proc/self/mountinfo", "22 27 0:21 / /proc rw - proc proc rw\n");
  EXPECT_EQ(find_cgroup(machine.root(), 0), Cgroup{});
}
TEST(Cgroup, WeightsThatDifferFromTheDefaultAreNamed) {
  const FakeMachine v1("xeon_powersave");
  v1.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.shares", "256\n");
  v1.write("/sys/fs/cgroup/cpu,cpuacct/cpu.shares", "1024\n");
  EXPECT_EQ(cpu_weight_text(find_cgroup(v1.root(), 0)), "shares 256");
  const FakeMachine v2("epyc_mi300x");
  const std::string leaf = "/sys/fs/cgroup/below";
  v2.write("/proc/self/cgroup", "0::/below\n");
  v2.write(leaf + "/cpu.stat", "usage_usec 1\n");
  v2.write(leaf + "/cpu.weight", "50\n");
  EXPECT_EQ(cpu_weight_text(find_cgroup(v2.root(), 0)), "weight 50");
}
TEST(Cgroup, DefaultAndInvalidWeightsAreNotNamed) {
  EXPECT_EQ(cpu_weight_text({}), "");
  const FakeMachine machine("xeon_powersave");
  for (const char* text : {"1024\n", "-3\n", "much\n", ""}) {
    machine.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.shares", text);
    EXPECT_EQ(cpu_weight_text(find_cgroup(machine.root(), 0)), "") << text;
  }
}
TEST(Cgroup, NestedWeightsAreNamedInnermostFirst) {
  Cgroup nested;
  nested.version = 2;
  nested.cpu_weights = {50, 100, 200};
  EXPECT_EQ(cpu_weight_text(nested), "weight 50 in weight 200");
}
TEST(Cgroup, DamagedLimitsAreIgnored) {
  const FakeMachine machine("xeon_powersave");
  machine.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "lots\n");
  machine.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "-5\n");
  EXPECT_EQ(find_cgroup(machine.root(), 0).cpu_limit_cores, std::nullopt);
  EXPECT_EQ(find_cgroup(machine.root(), 0).memory_limit_bytes, std::nullopt);
}

TEST(Freezer, FilesOfTheGroupAndThoseAboveItInnermostFirst) {
  const FakeMachine machine;
  machine.write("/proc/self/mountinfo",
                "31 23 0:26 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
                "32 23 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  machine.write("/proc/self/cgroup", "6:freezer:/a/b\n0::/c\n");
  const std::string first = "/sys/fs/cgroup/freezer", second = "/sys/fs/cgroup/unified/c";
  machine.write(first + "/a/freezer.state", "THAWED\n");
  machine.write(first + "/a/b/freezer.state", "THAWED\n");
  machine.write(first + "/a/b/cgroup.procs", "\n");
  machine.write(second + "/cgroup.procs", "\n");
  machine.write(second + "/cgroup.freeze", "0\n");
  machine.write(second + "/cgroup.stat.local", "frozen_usec 12\n");
  const FreezerFiles found = find_freezer(machine.root(), 0);
  EXPECT_THAT(found.controls,
              ::testing::ElementsAre(first + "/a/b/freezer.state", first + "/a/freezer.state", second + "/cgroup.freeze"));
  EXPECT_THAT(found.times, ::testing::ElementsAre(second + "/cgroup.stat.local"));
}
TEST(Freezer, RootGroupsAndMachinesWithoutGroupsCannotBeFrozen) {
  const FakeMachine machine;
  EXPECT_EQ(find_freezer(machine.root(), 0), FreezerFiles{});
  machine.write("/proc/self/mountinfo", "31 23 0:26 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n");
  machine.write("/proc/self/cgroup", "6:freezer:/\n");
  machine.write("/sys/fs/cgroup/freezer/cgroup.procs", "\n");
  EXPECT_EQ(find_freezer(machine.root(), 0), FreezerFiles{});
}

}  // namespace
}  // namespace aaco::hardware
