#include <gtest/gtest.h>

#include "analytics/fleet_compare.h"

namespace aaco::analytics::fleet {
namespace {

trace::FleetCells clocks(std::int32_t nodes, double low_from) {
  trace::FleetCells out{0, 1'800'000'000'000, 4, {}, {}, {}};
  for (std::int32_t node = 0; node < nodes; ++node) {
    out.units.push_back({(node < low_from ? "a" : "b") + std::to_string(node), 0, "model"});
    for (std::int32_t bin = 0; bin < 4; ++bin) {
      trace::FleetCell cell;
      cell.unit = node;
      cell.bin = bin;
      cell.minutes = 30;
      cell.values[0] = (node < low_from ? 2e9 : 1.8e9) + node % 3 * 1e6;
      out.cells.push_back(cell);
    }
  }
  return out;
}

bool is_refused(const std::string& text) { return !parse_side(text); }

TEST(FleetCompare, SlowerNodesDiffer) {
  const auto out = compare_sides(clocks(12, 6), trace::FleetGroup::gpu, *parse_side("node=a*"), *parse_side("node=b*"));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].metric, "clock_hz");
  EXPECT_NEAR(out[0].difference, -0.1, 0.001);
  EXPECT_TRUE(out[0].differs());
  EXPECT_EQ(out[0].nodes_a + out[0].nodes_b, 12);
}
TEST(FleetCompare, HalvesOfTheTimeAreEqual) {
  const auto out = compare_sides(clocks(12, 6), trace::FleetGroup::gpu, *parse_side("before=1970-01-01T01:00:00Z"),
                                 *parse_side("after=1970-01-01T01:00:00Z"));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_FALSE(out[0].differs());
}
TEST(FleetCompare, OneNodePerSideHasNoInterval) {
  const auto out = compare_sides(clocks(12, 6), trace::FleetGroup::gpu, *parse_side("node=a1"), *parse_side("node=b7"));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_FALSE(out[0].low.has_value());
  EXPECT_FALSE(out[0].differs());
}
TEST(FleetCompare, SideWithoutNodesYieldsNothing) {
  EXPECT_TRUE(compare_sides(clocks(4, 2), trace::FleetGroup::gpu, *parse_side("node=c"), *parse_side("node=b*")).empty());
}
TEST(FleetCompare, UnknownKeyIsRefused) { EXPECT_TRUE(is_refused("rack=1")); }
TEST(FleetCompare, MissingValueIsRefused) { EXPECT_TRUE(is_refused("node=")); }
TEST(FleetCompare, PlainWordIsRefused) { EXPECT_TRUE(is_refused("node7")); }
TEST(FleetCompare, InvalidTimeIsRefused) { EXPECT_TRUE(is_refused("after=soon")); }

}  // namespace
}  // namespace aaco::analytics::fleet
