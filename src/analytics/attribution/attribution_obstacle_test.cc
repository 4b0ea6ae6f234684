#include "analytics/attribution_obstacle.h"

#include <gtest/gtest.h>

namespace aaco::analytics::attribution {
namespace {

constexpr TraceHas kCallsAndCauses{.api_calls = true, .causes = true};
constexpr TraceHas kCallsOnly{.api_calls = true, .causes = false};
constexpr TraceHas kKernelsOnly{};

// Ten kernels of 1000 ns together, of which `attributed_ns` have a cause.
Coverage coverage(std::int64_t attributed_ns, std::int64_t replayed_ns, std::int64_t outside_ns, std::int64_t unlaunched_ns) {
  return {10, 1000, attributed_ns / 100, attributed_ns, replayed_ns, outside_ns, unlaunched_ns};
}

std::string reason(const Coverage& given, const TraceHas& trace = kCallsAndCauses) {
  const auto found = why_not_attributed(given, trace);
  return found ? std::string(found->reason) : std::string();
}

bool says(const Coverage& given, std::string_view part, const TraceHas& trace = kCallsAndCauses) {
  return reason(given, trace).find(part) != std::string::npos;
}

TEST(Obstacle, HalfOfTheTimeIsEnough) {
  EXPECT_EQ(reason(coverage(500, 500, 0, 0)), "");
  EXPECT_EQ(reason(coverage(1000, 0, 0, 0)), "");
  EXPECT_NE(reason(coverage(499, 501, 0, 0)), "");
}

TEST(Obstacle, IsWhatHidesMost) {
  EXPECT_TRUE(says(coverage(0, 600, 300, 100), "graph launches hide"));
  EXPECT_TRUE(says(coverage(0, 100, 300, 600), "no launch in the trace"));
  EXPECT_TRUE(says(coverage(0, 100, 600, 300), "outside any operator"));
}

TEST(Obstacle, OfEqualPartsTheGraphComesFirst) {
  EXPECT_TRUE(says(coverage(0, 500, 500, 0), "graph launches hide"));
  EXPECT_TRUE(says(coverage(0, 0, 500, 500), "outside any operator")) << "before what has no launch";
}

TEST(Obstacle, WithoutOperatorsAndRangesThereIsNothingToAttributeTo) {
  EXPECT_TRUE(says(coverage(0, 100, 600, 300), "no operators or ranges", kCallsOnly));
  EXPECT_TRUE(says(coverage(0, 600, 300, 100), "graph launches hide", kCallsOnly)) << "the graph still hides more";
}

TEST(Obstacle, WithoutCallsNothingIsJoined) {
  const auto found = why_not_attributed(coverage(0, 0, 0, 1000), kKernelsOnly);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, "attribution.no_launches");
  EXPECT_FALSE(found->remedy.empty());
  EXPECT_EQ(reason(coverage(600, 0, 0, 400), kKernelsOnly), "") << "attributed by other means";
}

TEST(Obstacle, KernelsWithoutTimeNeedCallsToCount) {
  EXPECT_EQ(reason(Coverage{}), "");
  EXPECT_TRUE(says(Coverage{}, "no API calls", kKernelsOnly));
}

TEST(Obstacle, EachHasAnIdAndARemedy) {
  for (const Coverage& given : {coverage(0, 600, 300, 100), coverage(0, 100, 300, 600), coverage(0, 100, 600, 300)})
    for (const TraceHas& trace : {kCallsAndCauses, kCallsOnly}) {
      const auto found = why_not_attributed(given, trace);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->id, "attribution.low");
      EXPECT_FALSE(found->remedy.empty());
    }
}

}  // namespace
}  // namespace aaco::analytics::attribution
