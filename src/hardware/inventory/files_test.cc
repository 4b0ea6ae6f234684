#include <gtest/gtest.h>

#include "hardware/inventory/cgroup_files.h"
#include "hardware/inventory/job.h"
#include "hardware/inventory/machine.h"
#include "hardware/inventory/read.h"
#include "tests/support/fake_machine.h"

namespace aaco::hardware::inventory {
namespace {

using List = std::vector<std::int64_t>;

TEST(NumberAfter, TakesOnlyANumber) {
  EXPECT_EQ(number_after("card12", "card"), 12);
  for (const char* name : {"card", "card0-VGA-1", "render128", "cardx"})
    EXPECT_EQ(number_after(name, "card"), std::nullopt) << name;
}
TEST(CacheSize, ReadsUnits) {
  EXPECT_EQ(parse_cache_size("48K"), 49152);
  EXPECT_EQ(parse_cache_size("2M"), 2097152);
  for (const char* text : {"", "K", "-1K", "9999999999999999M", "x"}) EXPECT_EQ(parse_cache_size(text), std::nullopt) << text;
}
TEST(CpuMax, ReadsQuotaAndPeriod) {
  EXPECT_EQ(parse_cpu_max("150000 100000"), 1.5);
  for (const char* text : {"max 100000", "", "1", "0 100000", "100 0", "-5 10", "1 2 3"})
    EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
}
TEST(Memberships, KeepsControllersAndLeavesNamedHierarchiesOut) {
  const auto found = parse_memberships("2:cpu,cpuacct:/job\n1:name=systemd:/x\n0::/a:b\nbroken\n3:cpu\n4:cpu:relative\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], (CgroupMembership{{"cpu", "cpuacct"}, "/job"}));
  EXPECT_EQ(found[1], (CgroupMembership{{}, "/a:b"}));
}
TEST(Mounts, ReadsEscapesAndRefusesShortLines) {
  const auto mounts = parse_mounts(
      "33 31 0:30 /r /a\\040b rw shared:4 - cgroup cgroup rw,cpu\n33 31 0:30 / - cgroup cgroup rw\n33 31 0:30 / /x rw - ext4 a "
      "b\n- - -\n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0], (Mount{"/r", "/a b", "cgroup", {"rw", "cpu"}}));
}
TEST(CpuInfoText, ReadsX86) {
  CpuInfo cpu;
  parse_cpuinfo(
      "processor\t: 0\nvendor_id : GenuineIntel\nmodel name: Xeon: Gold\nflags : avx2 amx_bf16 hypervisor avx\nprocessor : "
      "1\nmodel name : other\n",
      cpu);
  EXPECT_EQ(cpu.model, "Xeon: Gold");
  EXPECT_EQ(cpu.simd, (std::vector<std::string>{"avx", "avx2", "amx_bf16"}));
  EXPECT_TRUE(cpu.hypervisor);
  EXPECT_EQ(cpu.logical_cpus, 2);
}
TEST(CpuInfoText, ReadsArm) {
  CpuInfo cpu;
  parse_cpuinfo("processor\t: 0\nFeatures\t: fp asimd sve2 i8mm\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n", cpu);
  EXPECT_EQ(cpu.model, "Arm part 0xd4f");
  EXPECT_EQ(cpu.simd, (std::vector<std::string>{"asimd", "sve2", "i8mm"}));
}
TEST(CpuInfoText, EmptyTextLeavesEverythingUnknown) {
  CpuInfo cpu;
  parse_cpuinfo("", cpu);
  EXPECT_EQ(cpu.logical_cpus, std::nullopt);
  EXPECT_TRUE(cpu.model.empty());
}
TEST(AllowedCpus, AreThoseOfAllThreadsTogether) {
  const testing::FakeMachine machine;
  EXPECT_EQ(read_cpu_info(MachineFiles(machine.root())).allowed_cpus, std::nullopt);
  machine.write("/proc/self/task/7/status", "Name:\taaco\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n");
  EXPECT_EQ(read_cpu_info(MachineFiles(machine.root())).allowed_cpus, 1);
  machine.write("/proc/self/task/8/status", "Cpus_allowed_list:\t0,2-3\n");
  EXPECT_EQ(read_cpu_info(MachineFiles(machine.root())).allowed_cpus, 3);
  EXPECT_EQ(read_cpu_info(MachineFiles(machine.root())).allowed_cpu_list, "0,2-3");
  machine.write("/proc/self/task/8/status", "Cpus_allowed_list:\tmany\n");
  EXPECT_EQ(read_cpu_info(MachineFiles(machine.root())).allowed_cpus, 1);
}
TEST(TimingOptions, KeepsOnlyWhatChangesTiming) {
  const auto options = timing_options("ro isolcpus=2-3 password=x nosmt my.isolcpus=1");
  EXPECT_EQ(options, (std::map<std::string, std::string>{{"isolcpus", "2-3"}, {"nosmt", ""}}));
}
TEST(Container, ReadsDockerAndKubernetesPaths) {
  JobIdentity job;
  const std::string id(64, 'a');
  parse_container("0::/kubepods/burstable/pod0a1b2c3d-1111-2222-3333-444455556666/" + id, job);
  EXPECT_EQ(job.container_id, id);
  EXPECT_EQ(job.pod_uid, "0a1b2c3d-1111-2222-3333-444455556666");
}
TEST(Container, NumbersOfWrongLengthAreNotIds) {
  JobIdentity job;
  parse_container("/docker/" + std::string(63, 'a') + "/x/" + std::string(65, 'b') + "/podcast/kubepods", job);
  EXPECT_TRUE(job.container_id.empty());
  EXPECT_TRUE(job.pod_uid.empty());
}

std::vector<GpuInfo> amd(int count) {
  std::vector<GpuInfo> gpus;
  for (int i = 0; i < count; ++i) {
    GpuInfo gpu;
    gpu.vendor = "amd";
    gpu.unique_id = "abcd" + std::to_string(i);
    gpus.push_back(gpu);
  }
  return gpus;
}
VisibleDevices visible(std::map<std::string, std::string> variables) {
  return visible_devices(core::Environment(std::move(variables)), amd(4));
}

TEST(VisibleDevices, AllVisibleByDefault) { EXPECT_EQ(visible({}).amd, (List{0, 1, 2, 3})); }
TEST(VisibleDevices, HipIndexesDevicesVisibleToRocr) {
  EXPECT_EQ(visible({{"ROCR_VISIBLE_DEVICES", "2,3"}, {"HIP_VISIBLE_DEVICES", "1"}}).amd, (List{3}));
}
TEST(VisibleDevices, CudaVariableAppliesToHipOnlyWithoutHipVariable) {
  EXPECT_EQ(visible({{"CUDA_VISIBLE_DEVICES", "1"}}).amd, (List{1}));
  EXPECT_EQ(visible({{"CUDA_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "0"}}).amd, (List{0}));
}
TEST(VisibleDevices, UniqueIdsNameDevices) { EXPECT_EQ(visible({{"ROCR_VISIBLE_DEVICES", "GPU-abcd2"}}).amd, (List{2})); }
TEST(VisibleDevices, EmptyHidesAll) { EXPECT_EQ(visible({{"HIP_VISIBLE_DEVICES", ""}}).amd, List{}); }
TEST(VisibleDevices, InvalidEntryEndsTheListAndIsReported) {
  for (const char* value : {"0,9,1", "0,x,1", "0,-1,1", "0,,1"}) {
    const auto result = visible({{"HIP_VISIBLE_DEVICES", value}});
    EXPECT_EQ(result.amd, (List{0})) << value;
    EXPECT_EQ(result.problems.size(), 1U) << value;
  }
}

}  // namespace
}  // namespace aaco::hardware::inventory
