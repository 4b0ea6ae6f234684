#include "analytics/host_offset.h"

#include <gtest/gtest.h>

namespace aaco::analytics::trace_time {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(HostOffset, KernelsBeforeTheirLaunchProveThatTheClockIsBehind) {
  HostOffset offset;
  offset.add(10 * kMs, 6 * kMs + 50'000, 7 * kMs, {});
  EXPECT_EQ(offset.offset_ns(), 0);  // one may be a wrong correlation
  offset.add(20 * kMs, 16 * kMs, 17 * kMs, {});
  EXPECT_EQ(offset.offset_ns(), 4 * kMs - 50'000);
  EXPECT_EQ(offset.apart_ns(), 4 * kMs - 50'000);
}

TEST(HostOffset, WorkThatOutlastsTheWaitForItProvesThatTheClockIsAhead) {
  HostOffset offset;
  for (std::int64_t i = 1; i <= 3; ++i) offset.add(i * kMs, i * kMs + 20 * kMs, i * kMs + 21 * kMs, i * kMs + 2 * kMs);
  EXPECT_EQ(offset.offset_ns(), -19 * kMs);
}

TEST(HostOffset, NoProofWithoutALinkWithinTheRoundingOrByFewOfMany) {
  HostOffset nothing, rounded, few;
  EXPECT_EQ(nothing.offset_ns(), 0);
  for (std::int64_t i = 0; i < 9; ++i) rounded.add(kMs, kMs - kRoundingNs, 2 * kMs, 2 * kMs - kRoundingNs);
  EXPECT_EQ(rounded.offset_ns(), 0);
  for (std::int64_t i = 0; i < 1000; ++i) few.add(i < 3 ? 9 * kMs : kMs, kMs + 5'000, 2 * kMs, {});
  EXPECT_EQ(few.offset_ns(), 0);
}

TEST(HostOffset, ProofsOfBothDirectionsSayThatItChanges) {
  HostOffset offset;
  for (std::int64_t i = 0; i < 2; ++i) {
    offset.add(10 * kMs, 6 * kMs, 7 * kMs, {});
    offset.add(10 * kMs, 30 * kMs, 31 * kMs, 12 * kMs);
  }
  EXPECT_EQ(offset.apart_ns(), 19 * kMs);
  EXPECT_EQ(offset.offset_ns(), 0);
}

TEST(HostOffset, InvalidTimesProveNothing) {
  HostOffset offset;
  for (std::int64_t i = 0; i < 5; ++i) offset.add(INT64_MAX, INT64_MIN, 0, {});
  for (std::int64_t i = 0; i < 5; ++i) offset.add(5 * kMs, 2 * kMs, kMs, {});
  EXPECT_EQ(offset.offset_ns(), 0);
}

struct Waits {
  trace::NameTable names;
  DeviceWaits waits;
  void add(const char* name, std::int64_t start_ns, std::int64_t end_ns, const char* domain = "hip") {
    trace::ApiCallRow row;
    row.name = names.intern(name);
    row.domain = names.intern(domain);
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    waits.add(row, names);
  }
};

TEST(DeviceWaits, OnlyAWaitForTheWholeDeviceAfterTheLaunchTells) {
  Waits one;
  one.add("hipDeviceSynchronize", 10, 20);
  one.add("hipStreamSynchronize", 30, 40);
  one.add("aten::cudaDeviceSynchronize", 45, 50, "cpu_op");
  one.add("cuCtxSynchronize", 60, 70);
  EXPECT_EQ(one.waits.done_after(0, 5), 20);
  EXPECT_EQ(one.waits.done_after(0, 11), 70);
  EXPECT_EQ(one.waits.done_after(0, 61), std::nullopt);
  EXPECT_EQ(one.waits.done_after(1, 5), std::nullopt);
}

}  // namespace
}  // namespace aaco::analytics::trace_time
