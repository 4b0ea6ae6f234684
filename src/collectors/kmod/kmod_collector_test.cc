#include "collectors/kmod/kmod_collector.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/support/collector_bench.h"
#include "tests/support/fake_machine.h"

namespace aaco::collectors::kmod {
namespace {

using aaco::testing::CollectorBench;
using aaco::testing::FakeMachine;

constexpr const char* kText = "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:c1:00.0\ndrm-memory-vram:\t2048 KiB\n\n";
constexpr const char* kVram = "0000:c1:00.0 vram";

// Stands in for /dev/aaco.
class FakeDevice final : public Device {
 public:
  core::Result<ClockPair> clock() override {
    if (broken) return core::fail(core::ErrorCode::io, "broken");
    return pair;
  }
  core::Result<std::uint32_t> begin_region() override {
    if (broken) return core::fail(core::ErrorCode::conflict, "broken");
    ++open_regions;
    return 3;
  }
  core::Result<RegionCounts> end_region(std::uint32_t slot) override {
    EXPECT_EQ(slot, 3U);
    --open_regions;
    if (broken) return core::fail(core::ErrorCode::permission, "broken");
    return counts;
  }
  core::Result<std::string> drm_text(std::int64_t process_id) override {
    if (!texts.contains(process_id)) return core::fail(core::ErrorCode::permission, "not readable");
    return texts.at(process_id);
  }

  ClockPair pair{1000, 1000};
  RegionCounts counts{0, 500'000'000, 10, 50, 5, 20};
  std::map<std::int64_t, std::string> texts{{10, kText}};
  int open_regions = 0;
  bool broken = false;
};

struct WithModule {
  FakeMachine machine;
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  CollectorBench bench{[this](auto clock) {
                         return make_collector(std::move(clock), [this](const SysRoot&) -> core::Result<std::shared_ptr<Device>> {
                           return device;
                         });
                       },
                       machine.root(), Target{10}};
  std::int64_t dropped(const std::string& why) { return bench.collector().account().dropped.at(why); }
};

struct WithoutModule {
  FakeMachine machine;
  CollectorBench bench{[](auto clock) { return make_collector(std::move(clock)); }, machine.root(), Target{10}};
  void open_file(const std::string& number, const std::string& target, const std::string& text) const {
    machine.write("/proc/10/fdinfo/" + number, text);
    std::filesystem::create_directories(machine.root() + "/proc/10/fd");
    std::filesystem::create_symlink(target, machine.root() + "/proc/10/fd/" + number);
  }
};

TEST(KmodCollector, MemoryInterruptsAndTheTscFromTheModule) {
  WithModule b;
  ASSERT_TRUE(b.bench.open());
  b.bench.sample_after(0);
  EXPECT_EQ(b.bench.value("process.gpu_memory_bytes", kVram), 2048.0 * 1024);
  EXPECT_EQ(b.bench.value("cpu.device_interrupts_per_second"), std::nullopt);  // a difference: nothing at first
  b.device->pair = {1000 + 2'000'000'000, 1000 + 1'000'000'000};
  b.bench.sample_after(1.5);
  EXPECT_EQ(b.bench.value("cpu.device_interrupts_per_second"), 20);
  EXPECT_EQ(b.bench.value("cpu.timer_interrupts_per_second"), 100);
  EXPECT_EQ(b.bench.value("cpu.ipis_per_second"), 10);
  EXPECT_EQ(b.bench.value("cpu.softirqs_per_second"), 40);
  EXPECT_EQ(b.bench.value("cpu.tsc_hz"), 2e9);
  EXPECT_EQ(b.device->open_regions, 1);
}
TEST(KmodCollector, DescendantsAreAddedAndTheUnreadableCounted) {
  WithModule b;
  for (const char* id : {"10", "11", "12"})
    b.machine.write(std::string("/proc/") + id + "/stat",
                    std::string(id) + " (p) S 1 10 10 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 5 0 0\n");
  b.machine.write("/proc/10/task/10/children", "11 12");
  b.device->texts[11] = std::string(kText).replace(std::string(kText).find("\t7"), 2, "\t8");
  ASSERT_TRUE(b.bench.open());
  b.bench.sample_after(0);
  EXPECT_EQ(b.bench.value("process.gpu_memory_bytes", kVram), 4096.0 * 1024);
  EXPECT_EQ(b.dropped("kmod.gpu_memory: the files of a process are not readable"), 1);
}
TEST(KmodCollector, ForgetEndsTheRegion) {
  WithModule b;
  ASSERT_TRUE(b.bench.open());
  b.bench.sample_after(0);
  b.bench.collector().forget();
  EXPECT_EQ(b.device->open_regions, 0);
  b.bench.sample_after(1);
  EXPECT_EQ(b.bench.value("cpu.device_interrupts_per_second"), std::nullopt);
}
TEST(KmodCollector, ADeviceThatFailsIsCountedNotEmitted) {
  WithModule b;
  ASSERT_TRUE(b.bench.open());
  b.bench.sample_after(0);
  b.device->broken = true;
  b.bench.sample_after(2);
  EXPECT_EQ(b.bench.value("cpu.tsc_hz"), std::nullopt);
  EXPECT_EQ(b.dropped("kmod.tsc: the clock cannot be read"), 1);
  EXPECT_EQ(b.dropped("kmod.interrupts: the region cannot be read"), 1);
  EXPECT_EQ(b.dropped("kmod.interrupts: no region can be started"), 1);
}
TEST(KmodCollector, ACounterThatGoesBackIsDropped) {
  WithModule b;
  ASSERT_TRUE(b.bench.open());
  b.bench.sample_after(0);
  b.device->pair.tsc = 1;
  b.bench.sample_after(2);
  EXPECT_EQ(b.dropped("kmod.tsc: the counter went backwards"), 1);
}
TEST(KmodCollector, ADriverThatReportsNoMemoryIsCounted) {
  WithModule b;
  b.device->texts[10] = "drm-driver:\tnouveau\n\n";
  ASSERT_TRUE(b.bench.open());
  b.bench.sample_after(0);
  EXPECT_EQ(b.dropped("kmod.gpu_memory: the driver reports no memory"), 1);
}

TEST(KmodCollector, WithoutTheModuleMemoryComesFromProc) {
  WithoutModule b;
  b.machine.write("/dev/dri/renderD128", "");
  b.open_file("4", "/dev/dri/renderD128", kText);
  b.open_file("5", "/dev/dri/renderD128", kText);  // a duplicate of the same client
  b.open_file("6", "/tmp/other", std::string(kText).replace(std::string(kText).find("\t7"), 2, "\t9"));
  ASSERT_TRUE(b.bench.open());
  b.bench.sample_after(0);
  EXPECT_EQ(b.bench.value("process.gpu_memory_bytes", kVram), 2048.0 * 1024);
  EXPECT_EQ(b.bench.value("cpu.tsc_hz"), std::nullopt);
  ASSERT_FALSE(b.bench.collector().account().notes.empty());
}
TEST(KmodCollector, WithoutTheModuleAndWithoutDrmItIsUnsupported) {
  WithoutModule b;
  const auto status = b.bench.open();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::unsupported);
  EXPECT_EQ(status.error().message, "the kernel module is not loaded");
  EXPECT_NE(status.error().remedy.find("docs/how_to/kernel_module.md"), std::string::npos);
}
TEST(KmodDevice, AFileThatIsNotTheDeviceIsUnsupported) {
  const FakeMachine machine;
  machine.write("/dev/aaco", "");
  const auto device = open_device(SysRoot{machine.root()});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, core::ErrorCode::unsupported);
}

}  // namespace
}  // namespace aaco::collectors::kmod
