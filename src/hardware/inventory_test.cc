#include "hardware/inventory.h"

#include <gtest/gtest.h>

#include "hardware/gpu_devices.h"
#include "tests/support/fake_machine.h"

namespace aaco::hardware {
namespace {

using aaco::testing::FakeMachine;

Inventory of(const char* machine, std::map<std::string, std::string> variables = {}) {
  return take_inventory(aaco::testing::machine_root(machine), core::Environment(std::move(variables)));
}
std::string fact(const Inventory& inventory, std::string_view key) {
  for (const Fact& one : machine_facts(inventory))
    if (one.key == key) return one.value;
  return "";
}

TEST(Inventory, ReadsAServerWithTwoGpus) {
  const Inventory inventory = of("epyc_mi300x");
  EXPECT_EQ(inventory.os.host, "node17");
  EXPECT_EQ(inventory.os.distribution, "Ubuntu 24.04 LTS");
  EXPECT_EQ(inventory.os.transparent_hugepages, "madvise");
  EXPECT_EQ(inventory.cpu.physical_cores, 4);
  EXPECT_EQ(inventory.cpu.sockets, 2);
  EXPECT_EQ(inventory.cpu.numa_nodes, 2);
  ASSERT_EQ(inventory.cpu.caches.size(), 4U);
  EXPECT_EQ(inventory.cpu.caches[3], (CpuCache{3, "Unified", 33554432, "0-1"}));
  EXPECT_EQ(inventory.memory.total_bytes, 1584861184LL * 1024);
  EXPECT_EQ(inventory.drivers.at("rocm"), "6.2.0-66");
  EXPECT_EQ(inventory.job.pod_uid, "0a1b2c3d-1111-2222-3333-444455556666");
  EXPECT_EQ(inventory.job.container_id.size(), 64U);
}
TEST(Inventory, NumbersGpusByAddressAndSeesPartitions) {
  const Inventory inventory = of("epyc_mi300x");
  ASSERT_EQ(inventory.gpus.size(), 2U);
  EXPECT_EQ(inventory.gpus[0].pci_address, "0000:26:00.0");
  EXPECT_EQ(inventory.gpus[0].architecture, "gfx942");
  EXPECT_EQ(inventory.gpus[0].compute_units, 304);
  EXPECT_TRUE(inventory.gpus[0].partitions.empty());
  EXPECT_EQ(inventory.gpus[1].compute_partition, "CPX");
  EXPECT_EQ(inventory.gpus[1].partitions.size(), 8U);
  EXPECT_EQ(inventory.gpus[1].compute_units, 304);
  EXPECT_EQ(inventory.gpus[1].power_cap_watts, 750.0);
  EXPECT_EQ(inventory.gpus[1].pcie, (PcieLink{32e9, 32e9, 16, 16}));
  EXPECT_EQ(fact(inventory, "gpu.partitions"), "SPX/NPS1; CPX/NPS1");
}
TEST(Inventory, ReadsNvidiaDevices) {
  const Inventory inventory = of("xeon_powersave", {{"CUDA_VISIBLE_DEVICES", "1"}});
  ASSERT_EQ(inventory.gpus.size(), 2U);
  EXPECT_EQ(inventory.gpus[1].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(inventory.visible.nvidia, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(inventory.drivers.at("nvidia"), "550.54.15");
  EXPECT_EQ(fact(inventory, "gpu.visible"), "nvidia1");
}
TEST(Inventory, ReportsWhetherClocksAreFixed) {
  const auto good = check_performance_mode(of("epyc_mi300x").clocks);
  EXPECT_EQ(good.verdict, PerformanceMode::Verdict::yes);
  ASSERT_EQ(good.reasons.size(), 1U);
  const auto bad = check_performance_mode(of("xeon_powersave").clocks);
  EXPECT_EQ(bad.verdict, PerformanceMode::Verdict::no);
  ASSERT_EQ(bad.reasons.size(), 2U);
  EXPECT_EQ(bad.reasons[0], "2 of 2 CPUs use the governor powersave");
  EXPECT_EQ(check_performance_mode({}).verdict, PerformanceMode::Verdict::unknown);
}
TEST(Inventory, BoostIsReadFromEitherDriver) {
  EXPECT_EQ(of("epyc_mi300x").clocks.boost, true);
  EXPECT_EQ(of("xeon_powersave").clocks.boost, false);
  EXPECT_EQ(of("xeon_powersave").clocks.cpus[0].current_hz, std::nullopt);
}
TEST(Inventory, EmptyMachineIsUnknownNotZero) {
  const Inventory inventory = take_inventory(FakeMachine().root(), core::Environment());
  EXPECT_EQ(inventory.cpu.logical_cpus, std::nullopt);
  EXPECT_EQ(inventory.memory.total_bytes, std::nullopt);
  EXPECT_TRUE(inventory.gpus.empty());
  EXPECT_EQ(fact(inventory, "cpu.governor"), "");
  EXPECT_EQ(fact(inventory, "cpu.limit_cores"), "");
  EXPECT_EQ(fact(inventory, "gpu.devices"), "none");
}
TEST(Inventory, AMemoryLimitOfTheCgroupIsAFactOnlyWhereThereIsOne) {
  Inventory inventory;
  EXPECT_EQ(fact(inventory, "memory.limit_bytes"), "");
  inventory.cgroup.memory_limit_bytes = 157286400;
  EXPECT_EQ(fact(inventory, "memory.limit_bytes"), "157286400");
}
TEST(Inventory, TheRankComesFromTheLauncherBeforeTheScheduler) {
  const auto job = of("xeon_powersave", {{"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "77"}, {"RANK", "5"}, {"WORLD_SIZE", "8"}}).job;
  EXPECT_EQ(job.rank, 5);
  EXPECT_EQ(job.rank_source, "RANK");
  EXPECT_EQ(job.world_size, 8);
  EXPECT_EQ(job.scheduler, "slurm");
}
TEST(Inventory, IgnoresNonNumericRank) {
  EXPECT_EQ(of("xeon_powersave", {{"RANK", "five"}, {"SLURM_PROCID", "-1"}}).job.rank, std::nullopt);
}
TEST(Inventory, JsonContainsNoSecrets) {
  const std::string text =
      to_json(of("epyc_mi300x", {{"AACO_API_KEY", "hunter2"}, {"HF_TOKEN", "hunter2"}, {"ORT_PROXY", "http://me:hunter2@proxy"}}))
          .dump();
  EXPECT_EQ(text.find("hunter2"), std::string::npos);  // it stands in the machine's kernel command line too
  EXPECT_NE(text.find("isolcpus"), std::string::npos);
}
TEST(Inventory, JsonOmitsUnknownFacts) {
  const auto document = to_json(take_inventory(FakeMachine().root(), core::Environment()));
  EXPECT_FALSE(document["cpu"].contains("model"));
  EXPECT_FALSE(document["memory"].contains("total_bytes"));
  EXPECT_TRUE(document["gpus"].is_array());
}
TEST(Inventory, ThisMachineHasACpuAndAKernel) {
  const Inventory inventory = take_inventory("/", core::Environment::of_process());
  EXPECT_GT(inventory.cpu.logical_cpus.value_or(0), 0);
  EXPECT_FALSE(inventory.os.kernel.empty());
}
TEST(LinkSpeed, ReadsGigatransfers) {
  EXPECT_EQ(parse_link_speed("2.5 GT/s PCIe"), 2.5e9);
  for (const char* text : {"", "Unknown", "Unknown speed", "0 GT/s", "x GT/s", "16.0"})
    EXPECT_EQ(parse_link_speed(text), std::nullopt) << text;
}

}  // namespace
}  // namespace aaco::hardware
