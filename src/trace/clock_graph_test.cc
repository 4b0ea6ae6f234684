#include "trace/clock_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::trace {
namespace {

using core::ClockId;
using core::TimePoint;
using testing::HasSubstr;

ClockGraph graph(std::initializer_list<ClockPair> pairs) {
  ClockGraph result;
  for (const auto& pair : pairs) result.add(pair);
  return result;
}
ClockPair realtime(std::int64_t realtime_ns, std::int64_t monotonic_ns) {
  return {{ClockId::realtime, realtime_ns}, {ClockId::monotonic, monotonic_ns}, 0};
}
std::int64_t convert(const ClockGraph& clocks, ClockId from, std::int64_t ns, ClockId to) {
  const auto result = clocks.convert({from, ns}, to);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result ? result->ns : INT64_MIN;
}

TEST(ClockGraph, SameClock) { EXPECT_EQ(convert({}, ClockId::gpu, 5, ClockId::gpu), 5); }
TEST(ClockGraph, ConstantOffset) {
  EXPECT_EQ(convert(graph({realtime(1000, 10)}), ClockId::realtime, 1005, ClockId::monotonic), 15);
}
TEST(ClockGraph, BackwardsOverAPair) {
  EXPECT_EQ(convert(graph({realtime(1000, 10)}), ClockId::monotonic, 15, ClockId::realtime), 1005);
}

// 1 s on realtime took 1 s + 1 ms on monotonic: a point half way has drifted half as far.
const auto kDrifting = graph({realtime(0, 100), realtime(1'000'000'000, 1'001'000'100)});
TEST(ClockGraphDrift, AtTheFirstPair) { EXPECT_EQ(convert(kDrifting, ClockId::realtime, 0, ClockId::monotonic), 100); }
TEST(ClockGraphDrift, AtTheSecondPair) {
  EXPECT_EQ(convert(kDrifting, ClockId::realtime, 1'000'000'000, ClockId::monotonic), 1'001'000'100);
}
TEST(ClockGraphDrift, HalfWay) { EXPECT_EQ(convert(kDrifting, ClockId::realtime, 500'000'000, ClockId::monotonic), 500'500'100); }
TEST(ClockGraphDrift, BeforeTheFirst) { EXPECT_EQ(convert(kDrifting, ClockId::realtime, -50, ClockId::monotonic), 50); }
TEST(ClockGraphDrift, AfterTheLast) {
  EXPECT_EQ(convert(kDrifting, ClockId::realtime, 1'000'000'007, ClockId::monotonic), 1'001'000'107);
}
TEST(ClockGraphDrift, RoundTripWithinOneNanosecond) {
  for (std::int64_t ns : {1LL, 333'333'333LL, 999'999'999LL})
    EXPECT_NEAR(static_cast<double>(convert(kDrifting, ClockId::monotonic,
                                            convert(kDrifting, ClockId::realtime, ns, ClockId::monotonic), ClockId::realtime)),
                static_cast<double>(ns), 1.0);
}
TEST(ClockGraphDrift, OrderOfPairsDoesNotMatter) {
  const auto turned = graph({realtime(1'000'000'000, 1'001'000'100), realtime(0, 100)});
  EXPECT_EQ(convert(turned, ClockId::realtime, 500'000'000, ClockId::monotonic), 500'500'100);
}
TEST(ClockGraphDrift, NanosecondsOfTodayKeepTheirDigits) {
  const auto today =
      graph({realtime(1'763'712'930'123'456'789, 5'000'000'000'001), realtime(1'763'712'990'123'456'789, 5'060'000'000'001)});
  EXPECT_EQ(convert(today, ClockId::realtime, 1'763'712'930'123'456'790, ClockId::monotonic), 5'000'000'000'002);
}
TEST(ClockGraphDrift, TwoPairsAtOneInstant) {
  EXPECT_EQ(convert(graph({realtime(10, 1), realtime(10, 3)}), ClockId::realtime, 11, ClockId::monotonic), 4);
}

TEST(ClockGraph, ThroughAThirdClock) {
  const auto chain = graph({realtime(1000, 10), {{ClockId::gpu, 7}, {ClockId::realtime, 1000}, 0}});
  EXPECT_EQ(convert(chain, ClockId::gpu, 8, ClockId::monotonic), 11);
}
TEST(ClockGraph, ThroughTwoOthers) {
  const auto chain = graph({{{ClockId::gpu, 0}, {ClockId::tsc, 100}, 0},
                            {{ClockId::tsc, 0}, {ClockId::boottime, 10}, 0},
                            {{ClockId::monotonic, 0}, {ClockId::boottime, 1}, 0}});
  EXPECT_EQ(convert(chain, ClockId::gpu, 0, ClockId::monotonic), 109);
}

TEST(ClockGraphRefuses, NoPairs) {
  const auto result = ClockGraph().convert({ClockId::gpu, 1}, ClockId::monotonic);
  EXPECT_EQ(result.error().code, core::ErrorCode::invalid_input);
  EXPECT_THAT(result.error().message, HasSubstr("gpu and monotonic"));
}
TEST(ClockGraphRefuses, IslandOfOtherClocks) {
  EXPECT_FALSE(graph({realtime(1, 1)}).convert({ClockId::gpu, 1}, ClockId::monotonic));
}
TEST(ClockGraphRefuses, TimesBeyond64Bits) {
  EXPECT_FALSE(graph({realtime(0, INT64_MAX)}).convert({ClockId::realtime, INT64_MAX}, ClockId::monotonic));
}
TEST(ClockGraphRefuses, OffsetBeyond64Bits) {
  EXPECT_FALSE(graph({realtime(INT64_MIN, INT64_MAX)}).convert({ClockId::realtime, 0}, ClockId::monotonic));
}

// A clock whose readings take longer and longer, but for one try.
class SteppingClock final : public core::Clock {
 public:
  [[nodiscard]] std::int64_t now_ns(ClockId id) const override {
    ++reads_;
    now_ += reads_ >= 7 && reads_ <= 9 ? 2 : 100;  // the third try is quick
    return id == ClockId::monotonic ? now_ : now_ + 1'000'000;
  }
  void sleep_until(std::int64_t) const override {}

 private:
  mutable std::int64_t now_ = 0;
  mutable int reads_ = 0;
};
TEST(ReadClockPair, KeepsTheQuickestTry) {
  const ClockPair pair = read_clock_pair(SteppingClock(), ClockId::realtime);
  EXPECT_EQ(pair.uncertainty_ns, 2);
  EXPECT_EQ(pair.a.ns - pair.b.ns, 1'000'000);
}

TEST(ClockGraphJson, RoundTrip) {
  const auto read = clock_graph_from_json(to_json(kDrifting));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pairs(), kDrifting.pairs());
}
TEST(ClockGraphJson, AbsentIsEmpty) { EXPECT_TRUE(clock_graph_from_json(core::Json())->pairs().empty()); }
TEST(ClockGraphJsonRefuses, UnknownClock) {
  EXPECT_FALSE(
      clock_graph_from_json(*core::Json::parse(R"([{"clock":"sundial","ns":1,"other_clock":"monotonic","other_ns":1}])")));
}
TEST(ClockGraphJsonRefuses, MissingTime) {
  EXPECT_FALSE(clock_graph_from_json(*core::Json::parse(R"([{"clock":"tsc","other_clock":"monotonic","other_ns":1}])")));
}
TEST(ClockGraphJsonRefuses, NoList) { EXPECT_FALSE(clock_graph_from_json(core::Json("x"))); }

}  // namespace
}  // namespace aaco::trace
