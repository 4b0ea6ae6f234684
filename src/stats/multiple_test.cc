#include "stats/multiple.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::stats {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

auto near(double value) { return DoubleNear(value, 1e-12); }

TEST(Multiple, HolmByHand) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  EXPECT_THAT(holm_adjusted(p), ElementsAre(near(0.03), near(0.06), near(0.06), near(0.02)));
}
TEST(Multiple, BenjaminiHochbergByHand) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  EXPECT_THAT(benjamini_hochberg_adjusted(p), ElementsAre(near(0.02), near(0.04), near(0.04), near(0.02)));
}
TEST(Multiple, SingleTestIsUnchanged) {
  EXPECT_THAT(holm_adjusted(std::vector{0.2}), ElementsAre(near(0.2)));
  EXPECT_THAT(benjamini_hochberg_adjusted(std::vector{0.2}), ElementsAre(near(0.2)));
}
TEST(Multiple, NeverAboveOne) {
  EXPECT_THAT(holm_adjusted(std::vector{0.9, 0.8}), ElementsAre(near(1), near(1)));
  EXPECT_THAT(benjamini_hochberg_adjusted(std::vector{0.9, 0.8}), ElementsAre(near(0.9), near(0.9)));
}
TEST(Multiple, NoTestsYieldEmptyResult) {
  EXPECT_TRUE(holm_adjusted({}).empty());
  EXPECT_TRUE(benjamini_hochberg_adjusted({}).empty());
}

}  // namespace
}  // namespace aaco::stats
