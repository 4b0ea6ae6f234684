#include "analytics/config_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace aaco::analytics::configsearch {
namespace {

using ::testing::ElementsAre;

Exploration explore(std::vector<std::size_t> sizes) {
  auto all = *grid(sizes, 1000);
  return {std::move(sizes), std::move(all), 1};
}

TEST(Grid, HasEveryConfigurationButTheBaseline) { EXPECT_EQ(grid({2, 3, 2}, 1000)->size(), 11U); }
TEST(Grid, SingleChangesComeFirstInTheOrderOfTheAxes) {
  const auto all = *grid({2, 2}, 10);
  EXPECT_THAT(all, ElementsAre(Configuration{1, 0}, Configuration{0, 1}, Configuration{1, 1}));
}
TEST(Grid, OfOneValueIsEmpty) { EXPECT_TRUE(grid({1, 1}, 10)->empty()); }
TEST(Grid, AboveTheLimitIsRefused) { EXPECT_FALSE(grid({1000, 1000, 1000}, 100'000)); }

TEST(Exploration, EndsWhenAllAreTried) {
  Exploration search = explore({2, 2});
  int count = 0;
  while (const auto next = search.next()) {
    search.add(*next, 0);
    ++count;
  }
  EXPECT_EQ(count, 3);
}
TEST(Exploration, CombinesTheBestSingleChanges) {
  Exploration search = explore({3, 3, 2});
  const auto truth = [](const Configuration& c) {
    return (c[0] == 2 ? -0.5 : 0.1) + (c[1] == 1 ? -0.3 : 0.0) + (c[2] == 1 ? 0.4 : 0.0);
  };
  std::optional<Configuration> next;
  while ((next = search.next()) && changes(*next) == 1) search.add(*next, truth(*next));
  EXPECT_EQ(*next, (Configuration{2, 1, 0}));
}
TEST(Exploration, FailedSingleRulesOutItsValue) {
  Exploration search = explore({2, 3});
  search.fail({1, 0});
  EXPECT_EQ(search.untried(), 2U);
}
TEST(Exploration, FailedCombinationRulesOutOnlyItself) {
  Exploration search = explore({2, 3});
  search.fail({1, 1});
  EXPECT_EQ(search.untried(), 4U);
}
TEST(Exploration, FindsAnInteractionInTime) {
  // Only one pair of values helps, and each of them alone does nothing.
  Exploration search = explore({4, 4, 3});
  int tried = 0;
  for (bool found = false; !found; ++tried) {
    const auto next = search.next();
    ASSERT_TRUE(next);
    found = (*next)[0] == 3 && (*next)[1] == 2;
    search.add(*next, found ? -0.5 : 0);
  }
  EXPECT_LT(tried, 47);
}
TEST(Exploration, SameSeedSameOrder) {
  Exploration a = explore({3, 3, 3}), b = explore({3, 3, 3});
  while (const auto next = a.next()) {
    EXPECT_EQ(b.next(), next);
    a.add(*next, 0);
    b.add(*next, 0);
  }
}

TEST(Race, KeepsTheBetterHalf) {
  const auto kept = better_half({{0, {0.1}}, {1, {-0.2, -0.4}}, {2, {-0.1}}});
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].contender, 1U);
  EXPECT_EQ(kept[1].contender, 2U);
}
TEST(Race, OfOneKeepsIt) { EXPECT_EQ(better_half({{7, {0.3}}}).size(), 1U); }
TEST(Race, OfNoneIsEmpty) { EXPECT_TRUE(better_half({}).empty()); }

}  // namespace
}  // namespace aaco::analytics::configsearch
