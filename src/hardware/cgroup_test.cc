#include "hardware/cgroup.h"

#include <gtest/gtest.h>

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
TEST(Cgroup, DamagedLimitsAreIgnored) {
  const FakeMachine machine("xeon_powersave");
  machine.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "lots\n");
  machine.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "-5\n");
  EXPECT_EQ(find_cgroup(machine.root(), 0).cpu_limit_cores, std::nullopt);
  EXPECT_EQ(find_cgroup(machine.root(), 0).memory_limit_bytes, std::nullopt);
}

}  // namespace
}  // namespace aaco::hardware
