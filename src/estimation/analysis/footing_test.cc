#include "estimation/analysis/footing.h"

#include <gtest/gtest.h>

namespace aaco::estimation {
namespace {

std::string source(const std::vector<std::pair<std::string, double>>& parts) {
  Footing footing;
  for (const auto& [name, amount] : parts) footing.add(Level::interpolated, name, amount);
  Estimate sum;
  footing.grade("time", sum);
  return sum.source;
}

TEST(Footing, OneSourceHasNoShare) { EXPECT_EQ(source({{"a", 1}, {"a", 2}}), "a"); }
TEST(Footing, TheLargestShareComesFirst) { EXPECT_EQ(source({{"a", 1}, {"b", 3}}), "b (75 % of the time); a (25 %)"); }
TEST(Footing, AFitAndTheRatesOfTheSameDevicesAreOnePart) {
  EXPECT_EQ(source({{"a", 3}, {"achieved rates of a", 1}}), "a (75 % of the time, and 25 % by achieved rates)");
  EXPECT_EQ(source({{"achieved rates of a and b", 1}, {"a", 3}}), "a (75 % of the time); achieved rates of a and b (25 %)");
}
TEST(Footing, WhatRoundsToNothingIsOthers) {
  EXPECT_EQ(source({{"a", 1000}, {"b", 1}, {"c", 1}}), "a (100 % of the time); others");
  EXPECT_EQ(source({{"a", 1000}, {"achieved rates of a", 1}}), "a (100 % of the time)");
}
TEST(Footing, TheLevelIsTheWorstOfATenth) {
  Footing footing;
  footing.add(Level::calibrated, "a", 95);
  footing.add(Level::theoretical, "specification", 5);
  Estimate sum;
  sum.level = Level::calibrated;
  footing.grade("time", sum);
  EXPECT_EQ(sum.level, Level::calibrated);
  footing.add(Level::theoretical, "specification", 10);
  footing.grade("time", sum);
  EXPECT_EQ(sum.level, Level::theoretical);
}

}  // namespace
}  // namespace aaco::estimation
