#include "server/upload_pace.h"

#include <gtest/gtest.h>

namespace aaco::server {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Seconds until a client that sends `bytes` every `every_ns` is refused; 0: not within ten minutes.
std::int64_t refused_after(std::int64_t bytes, std::int64_t every_ns) {
  UploadPace pace;
  for (std::int64_t now = every_ns; now <= 600 * kSecond; now += every_ns)
    if (!pace.arrived(bytes, every_ns)) return now / kSecond;
  return 0;
}

TEST(UploadPace, RefusesDrips) {
  EXPECT_EQ(refused_after(1, kSecond / 2), 10);
  EXPECT_EQ(refused_after(1024, kSecond), 10);
  EXPECT_EQ(refused_after(1, 9 * kSecond), 18);
}
TEST(UploadPace, TakesSlowLines) {
  EXPECT_EQ(refused_after(4096, kSecond), 0);
  EXPECT_EQ(refused_after(kMinBytesPerWindow, kPaceWindow_ns), 0);
}
TEST(UploadPace, EveryWindowCounts) {
  UploadPace pace;
  EXPECT_TRUE(pace.arrived(std::int64_t{1} << 30, kPaceWindow_ns));
  EXPECT_FALSE(pace.arrived(1, kPaceWindow_ns));
}
TEST(UploadPace, OwnTimeDoesNotCount) {
  UploadPace pace;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(pace.arrived(1, 0));
}

}  // namespace
}  // namespace aaco::server
