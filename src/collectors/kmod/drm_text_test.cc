#include "collectors/kmod/drm_text.h"

#include <gtest/gtest.h>

namespace aaco::collectors::kmod {
namespace {

constexpr const char* kFile =
    "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:c1:00.0\ndrm-memory-vram:\t2048 KiB\ndrm-memory-gtt: \t512 KiB\n";

GpuMemory memory_of(std::string_view text) {
  DrmText sum;
  (void)sum.add(text);
  return sum.memory();
}

TEST(DrmText, RegionsOfADevice) {
  EXPECT_EQ(memory_of(kFile), (GpuMemory{{"0000:c1:00.0 gtt", 512.0 * 1024}, {"0000:c1:00.0 vram", 2048.0 * 1024}}));
}
TEST(DrmText, AClientOfTwoFilesCountsOnce) { EXPECT_EQ(memory_of(std::string(kFile) + "\n" + kFile), memory_of(kFile)); }
TEST(DrmText, TwoClientsAddUp) {
  const std::string other = std::string(kFile).replace(std::string(kFile).find("\t7"), 2, "\t8");
  EXPECT_EQ(memory_of(std::string(kFile) + "\n" + other).at("0000:c1:00.0 vram"), 4096.0 * 1024);
}
TEST(DrmText, ResidentIsPreferredToItsOldName) {
  EXPECT_EQ(memory_of("drm-driver:\txe\ndrm-memory-vram0:\t9 MiB\ndrm-resident-vram0:\t2 MiB\n"),
            (GpuMemory{{"xe vram0", 2.0 * 1024 * 1024}}));
}
TEST(DrmText, BytesHaveNoUnit) {
  EXPECT_EQ(memory_of("drm-driver:\tpanfrost\ndrm-resident-memory:\t4096\n"), (GpuMemory{{"panfrost memory", 4096.0}}));
}
TEST(DrmText, UnknownUnitIsSkipped) { EXPECT_TRUE(memory_of("drm-driver:\tx\ndrm-memory-vram:\t4 pages\n").empty()); }
TEST(DrmText, TextWithoutADeviceHasNoMemory) { EXPECT_TRUE(memory_of("drm-memory-vram:\t4 KiB\n").empty()); }
TEST(DrmText, FilesThatAreNotDrm) {
  for (const char* text :
       {"", "\n\n\n", "pos:\t0\nflags:\t02\n", "drm-memory-:\t4 KiB\ndrm-driver:\tx\n", "drm-driver:\tx\ndrm-memory-vram:\n"}) {
    DrmText sum;
    EXPECT_FALSE(sum.add(text)) << text;
    EXPECT_TRUE(sum.memory().empty()) << text;
  }
}

}  // namespace
}  // namespace aaco::collectors::kmod
