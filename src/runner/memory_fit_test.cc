#include "runner/memory_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::runner {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// A machine of 4 GiB.
class MemoryFit : public testing::Test {
 protected:
  MemoryFit() : folder_(*core::TemporaryDirectory::make(testing::TempDir())) {
    put("/proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n");
  }
  void put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(core::make_directories(core::parent_path(folder_.path() + path)));
    ASSERT_TRUE(core::write_file_atomic(folder_.path() + path, text));
  }
  MemoryRoom room() { return memory_room(folder_.path()).value(); }
  core::TemporaryDirectory folder_;
};

TEST_F(MemoryFit, WithoutLimitsUsesKernelValue) { EXPECT_EQ(room().bytes, 4 * kGiB); }
TEST_F(MemoryFit, AVersion2LimitCounts) {
  put("/proc/self/cgroup", "0::/job/step\n");
  put("/sys/fs/cgroup/job/memory.max", "2147483648\n");
  put("/sys/fs/cgroup/job/memory.current", "1610612736\n");
  put("/sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 536870912\n");
  EXPECT_EQ(room().bytes, kGiB);
  EXPECT_EQ(room().bound, "cgroup limit");
}
TEST_F(MemoryFit, IgnoresUnlimitedGroups) {
  put("/proc/self/cgroup", "0::/job\n");
  put("/sys/fs/cgroup/job/memory.max", "max\n");
  put("/sys/fs/cgroup/job/memory.current", "1000\n");
  EXPECT_EQ(room().bytes, 4 * kGiB);
}
TEST_F(MemoryFit, AVersion1LimitCounts) {
  put("/proc/self/cgroup", "5:cpu:/\n4:memory:/box\n");
  put("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824\n");
  put("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "0\n");
  EXPECT_EQ(room().bytes, kGiB);
}
TEST_F(MemoryFit, FullCgroupHasNoRoom) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "100\n");
  put("/sys/fs/cgroup/memory.current", "200\n");
  EXPECT_EQ(room().bytes, 0);
}
TEST_F(MemoryFit, ALimitOfTheAddressSpaceCounts) {
  put("/proc/self/status", "Name:\tany\nVmSize:\t  524288 kB\n");
  put("/proc/self/limits",
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max cpu time              unlimited            unlimited            seconds   \n"
      "Max address space         1073741824           unlimited            bytes     \n");
  EXPECT_EQ(room().bytes, kGiB / 2);
  EXPECT_EQ(room().bound, "limit of the address space");
  put("/proc/self/limits", "Max address space         unlimited            unlimited            bytes     \n");
  EXPECT_EQ(room().bytes, 4 * kGiB);
}
TEST_F(MemoryFit, UnsupportedWithoutMemInfo) {
  put("/proc/meminfo", "MemTotal: 8388608 kB\n");
  EXPECT_EQ(memory_room(folder_.path()).error().code, core::ErrorCode::unsupported);
}
TEST_F(MemoryFit, DamagedGroupsAreNoLimit) {
  put("/proc/self/cgroup", "nonsense\n0:\n::\n");
  EXPECT_EQ(room().bytes, 4 * kGiB);
}
TEST(LoadingBytes, ExternalDataIsNotHeldTwice) {
  EXPECT_EQ(loading_bytes(100, false, false), 200);
  EXPECT_EQ(loading_bytes(100, true, false), 110);
  EXPECT_EQ(loading_bytes(100, true, true), 310);
}
TEST(RequireMemory, AcceptsFittingModel) { EXPECT_TRUE(require_memory("m", kGiB, {kGiB, "free memory"})); }
TEST(RequireMemory, RefusesOversizedModelWithMessage) {
  EXPECT_THAT(require_memory("llama2-7b", 27 * kGiB, {4 * kGiB, "free memory"}).error().text(),
              testing::AllOf(testing::HasSubstr("llama2-7b"), testing::HasSubstr("27"), testing::HasSubstr("not run")));
}

}  // namespace
}  // namespace aaco::runner
