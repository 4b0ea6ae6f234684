#include "importers/kineto/quiet_times.h"

#include <gtest/gtest.h>

namespace aaco::importers::kineto {
namespace {

constexpr std::int64_t kMs = 1'000'000;
using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;

Times quiet(const std::vector<Span>& frames) {
  QuietTimes times;
  for (const Span& frame : frames) times.add_frame(1, 2, frame);
  Times found;
  times.each([&](std::int64_t process, std::int64_t thread, Span span) {
    EXPECT_EQ(process, 1);
    EXPECT_EQ(thread, 2);
    found.emplace_back(span.start_ns / kMs, span.end_ns / kMs);
  });
  return found;
}
Span ms(double start, double end) {
  return {static_cast<std::int64_t>(start * static_cast<double>(kMs)), static_cast<std::int64_t>(end * static_cast<double>(kMs))};
}

TEST(QuietTimes, NothingWithinAFrame) { EXPECT_EQ(quiet({ms(5.5, 40.5)}), (Times{{6, 40}})); }
TEST(QuietTimes, ShortFramesAreNoSilence) {
  std::vector<Span> frames = {ms(0, 50)};
  for (int i = 0; i < 50; ++i) frames.push_back(ms(i, i + 0.01));
  EXPECT_EQ(quiet(frames), Times());
}
TEST(QuietTimes, OrderDoesNotMatter) {
  EXPECT_EQ(quiet({ms(30.5, 31), ms(5.5, 60.5), ms(10.2, 10.4)}), quiet({ms(5.5, 60.5), ms(10.2, 10.4), ms(30.5, 31)}));
}
TEST(QuietTimes, ShorterThanTenMillisecondsIsNotAsked) { EXPECT_EQ(quiet({ms(0.5, 10.9)}), Times()); }
TEST(QuietTimes, NegativeTimes) { EXPECT_EQ(quiet({ms(-30.5, -1.5)}), (Times{{-30, -2}})); }
TEST(QuietTimes, BeyondTheLimitNothingIsSaid) {
  EXPECT_EQ(quiet({{0, 1}, {QuietTimes::kMaxBuckets * kMs * 3, QuietTimes::kMaxBuckets * kMs * 4}}), Times());
}
TEST(QuietTimes, ThreadsBeyondTheLimitAreLeftOut) {
  QuietTimes times;
  for (std::int64_t thread = 0; thread < 1000; ++thread) times.add_frame(1, thread, {0, 50 * kMs});
  std::size_t found = 0;
  times.each([&](std::int64_t, std::int64_t, Span) { ++found; });
  EXPECT_EQ(found, QuietTimes::kMaxThreads);
}

}  // namespace
}  // namespace aaco::importers::kineto
