#include "analytics/known_idle.h"

#include <gtest/gtest.h>

namespace aaco::analytics::known_idle {
namespace {

Call call(Act act, std::int64_t start, std::int64_t end, std::uint64_t stream = 0, std::uint64_t event = 0) {
  Call out;
  out.act = act;
  out.start_ns = start;
  out.end_ns = end;
  out.stream = stream;
  out.event = event;
  return out;
}
// The idle times of the calls as "start-end", joined.
std::string idle(const std::vector<Call>& calls) {
  Finder finder;
  std::string text;
  for (const Call& one : calls)
    if (const auto found = finder.add(one)) text += std::to_string(found->start_ns) + "-" + std::to_string(found->end_ns) + " ";
  return text;
}

TEST(KnownIdle, BeginsWhenTheDeviceWaitReturns) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1), call(Act::wait_device, 2, 50), call(Act::submit, 80, 81)}), "50-80 ");
}
TEST(KnownIdle, AStreamWaitCoversItsStream) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1, 7), call(Act::wait_stream, 2, 50, 7), call(Act::submit, 80, 81, 7)}), "50-80 ");
}
TEST(KnownIdle, ABlockingCopyCoversItsStream) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1), call(Act::submit_and_wait, 2, 50), call(Act::submit, 80, 81)}), "50-80 ");
}
TEST(KnownIdle, AnEventCoversWhatCameBeforeIt) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1, 7), call(Act::record_event, 2, 3, 7, 9), call(Act::wait_event, 4, 50, 0, 9),
                  call(Act::submit, 80, 81, 7)}),
            "50-80 ");
}
TEST(KnownIdle, EachGapIsFound) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1), call(Act::wait_device, 2, 10), call(Act::submit, 20, 21),
                  call(Act::wait_device, 22, 30), call(Act::submit, 40, 41)}),
            "10-20 30-40 ");
}
TEST(KnownIdle, DevicesAreSeparate) {
  Call other = call(Act::submit, 60, 61);
  other.device = 1;
  EXPECT_EQ(idle({call(Act::submit, 0, 1), call(Act::wait_device, 2, 50), other, call(Act::submit, 80, 81)}), "50-80 ");
}

TEST(KnownIdle, WithoutAWaitNothingIsKnown) { EXPECT_EQ(idle({call(Act::submit, 0, 1), call(Act::submit, 80, 81)}), ""); }
TEST(KnownIdle, AWaitBeforeAnyWorkSaysNothing) { EXPECT_EQ(idle({call(Act::wait_device, 0, 1), call(Act::submit, 80, 81)}), ""); }
TEST(KnownIdle, AWaitOfAnotherStreamSaysNothing) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1, 7), call(Act::wait_stream, 2, 50, 8), call(Act::submit, 80, 81, 7)}), "");
}
TEST(KnownIdle, OneStreamOfTwoSaysNothing) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1, 7), call(Act::submit, 1, 2, 8), call(Act::wait_stream, 3, 50, 7),
                  call(Act::submit, 80, 81, 7)}),
            "");
}
TEST(KnownIdle, WorkGivenDuringTheWaitMayContinue) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1), call(Act::wait_device, 2, 50), call(Act::submit, 30, 31), call(Act::submit, 80, 81)}),
            "");
}
TEST(KnownIdle, WorkAfterTheEventMayContinue) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1, 7), call(Act::record_event, 2, 3, 7, 9), call(Act::submit, 4, 5, 7),
                  call(Act::wait_event, 6, 50, 0, 9), call(Act::submit, 80, 81, 7)}),
            "");
}
TEST(KnownIdle, AnUnknownEventSaysNothing) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1), call(Act::wait_event, 2, 50, 0, 9), call(Act::submit, 80, 81)}), "");
}
TEST(KnownIdle, AnUnknownStreamNeedsTheWholeDevice) {
  EXPECT_EQ(idle({call(Act::submit, 0, 1, kUnknownStream), call(Act::wait_stream, 2, 50, 0), call(Act::submit, 80, 81)}), "");
  EXPECT_EQ(idle({call(Act::submit, 0, 1, kUnknownStream), call(Act::wait_device, 2, 50), call(Act::submit, 80, 81)}), "50-80 ");
}

}  // namespace
}  // namespace aaco::analytics::known_idle
