#include "estimation/expert_routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace aaco::estimation {
namespace {

using Kind = ExpertRouting::Kind;

const RoutedLayer kQwen{128, 8, 8};

// The mean over `rounds` of the busiest rank's visits where every token draws its experts without repeating one.
double simulated(const RoutedLayer& layer, int rows, int rounds) {
  core::Random random(7);
  const auto experts = static_cast<std::uint64_t>(layer.experts), own = experts / static_cast<std::uint64_t>(layer.groups);
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> visits(static_cast<std::size_t>(layer.groups));
    std::vector<std::uint64_t> order(experts);
    for (std::uint64_t i = 0; i < experts; ++i) order[i] = i;
    for (int row = 0; row < rows; ++row)
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(layer.per_token); ++i) {
        std::swap(order[i], order[i + random.below(experts - i)]);
        visits[order[i] / own] += 1;
      }
    sum += *std::max_element(visits.begin(), visits.end());
  }
  return sum / rounds;
}

TEST(ExpertRouting, RandomChoiceLoadsTheBusiestRankAsSimulated) {
  for (const RoutedLayer& layer : {kQwen, RoutedLayer{8, 2, 2}, RoutedLayer{8, 2, 8}, RoutedLayer{256, 8, 32}})
    for (const int rows : {1, 8, 64, 512}) {
      const BusiestRank rank = busiest_rank(layer, rows, {});
      EXPECT_NEAR(rank.visits / simulated(layer, rows, 200), 1, 0.06) << layer.groups << " ranks, " << rows << " rows";
    }
}
TEST(ExpertRouting, ManyRowsAreEven) {
  EXPECT_NEAR(busiest_rank(kQwen, 1e6, {}).imbalance, 1, 0.01);
  EXPECT_GT(busiest_rank(kQwen, 8, {}).imbalance, 1.3);
}
TEST(ExpertRouting, OneRankHasTheMean) {
  for (const char* name : {"uniform", "even", "power_law_1.2", "3"})
    EXPECT_NEAR(busiest_rank({64, 4, 1}, 100, *parse_routing(name)).imbalance, 1, 1e-9) << name;
}
TEST(ExpertRouting, EvenRanksHaveTheMean) {
  const BusiestRank rank = busiest_rank(kQwen, 64, {Kind::even, 0});
  EXPECT_EQ(rank.visits, 64);
  EXPECT_EQ(rank.imbalance, 1);
  EXPECT_NEAR(rank.experts, 16 * (1 - std::pow(1 - 8.0 / 128, 64)), 1e-9);
}
TEST(ExpertRouting, ASteeperPowerLawIsLessEven) {
  double before = 1;
  for (const double exponent : {0.5, 0.8, 1.0, 1.2, 1.4}) {
    const BusiestRank rank = busiest_rank(kQwen, 4096, {Kind::power_law, exponent});
    EXPECT_GT(rank.imbalance, before) << exponent;
    before = rank.imbalance;
  }
}
TEST(ExpertRouting, NoExpertHasMoreVisitsThanThereAreTokens) {
  for (const char* name : {"uniform", "power_law_10", "1000"})
    for (const double rows : {1.0, 3.0, 1000.0}) {
      const BusiestRank one = busiest_rank({256, 8, 256}, rows, *parse_routing(name));
      EXPECT_LE(one.visits, rows * (1 + 1e-9)) << name;
      EXPECT_LE(one.experts, 1 + 1e-9) << name;
    }
}
TEST(ExpertRouting, AFactorIsOfTheMean) {
  EXPECT_DOUBLE_EQ(busiest_rank(kQwen, 64, {Kind::factor, 1.5}).visits, 96);
  EXPECT_DOUBLE_EQ(busiest_rank(kQwen, 64, {Kind::factor, 100}).imbalance, 8);  // all of a token's experts on one rank
}
TEST(ExpertRouting, HostileSizesEndSoon) {
  const BusiestRank rank = busiest_rank({65536, 1, 65536}, 1e9, {Kind::power_law, 10});
  EXPECT_GE(rank.imbalance, 1);
  EXPECT_TRUE(std::isfinite(rank.visits));
}
TEST(ExpertRouting, NamesGoThereAndBack) {
  for (const char* name : {"uniform", "even", "power_law_1.01", "1.3"}) EXPECT_EQ(to_string(*parse_routing(name)), name);
  EXPECT_EQ(*parse_routing(" Uniform "), ExpertRouting{});
}
TEST(ExpertRouting, RejectsInvalidNames) {
  for (const char* name :
       {"", "skewed", "0.9", "-1", "nan", "inf", "1001", "power_law_", "power_law_0", "power_law_11", "power_law_x"})
    EXPECT_FALSE(parse_routing(name)) << name;
}

}  // namespace
}  // namespace aaco::estimation
