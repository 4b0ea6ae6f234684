#include "stats/fits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;

// Rows (1, x, x^2) for x = 1..count.
Design parabola(int count) {
  Design design{{}, 3};
  for (int i = 1; i <= count; ++i) design.values.insert(design.values.end(), {1.0, 1.0 * i, 1.0 * i * i});
  return design;
}

std::vector<double> targets_of(const Design& design, const std::vector<double>& coefficients, double noise = 0,
                               std::uint64_t seed = 1) {
  core::Random random(seed);
  std::vector<double> targets;
  for (std::size_t i = 0; i < design.rows(); ++i) {
    double sum = noise * random.normal();
    for (std::size_t j = 0; j < design.columns; ++j) sum += design.values[i * design.columns + j] * coefficients[j];
    targets.push_back(sum);
  }
  return targets;
}

template <class Fit>
ErrorCode code_of(const core::Result<Fit>& result) {
  return result ? ErrorCode::cancelled : result.error().code;
}

TEST(LeastSquares, RecoversExactCoefficients) {
  const auto fit = least_squares(parabola(10), targets_of(parabola(10), {5, -2, 0.5}));
  EXPECT_NEAR(fit->coefficients[0], 5, 1e-9);
  EXPECT_NEAR(fit->coefficients[1], -2, 1e-9);
  EXPECT_NEAR(fit->coefficients[2], 0.5, 1e-9);
  EXPECT_NEAR(*fit->explained_ratio, 1, 1e-12);
}

// By hand: y = 1 3 2 over x = 0 1 2 gives 1.5 + 0.5 x, residuals -0.5 1 -0.5, s^2 = 1.5, se(slope) = sqrt(1.5 / 2).
TEST(LeastSquares, ByHand) {
  const auto fit = least_squares({{1, 0, 1, 1, 1, 2}, 2}, std::vector<double>{1, 3, 2});
  EXPECT_NEAR(fit->coefficients[0], 1.5, 1e-12);
  EXPECT_NEAR(fit->coefficients[1], 0.5, 1e-12);
  EXPECT_NEAR(fit->residual_deviation, std::sqrt(1.5), 1e-12);
  EXPECT_NEAR(fit->standard_errors[1], std::sqrt(0.75), 1e-12);
  EXPECT_NEAR(*fit->explained_ratio, 0.25, 1e-12);
}

TEST(LeastSquares, WeightsCount) {
  const Design constant{{1, 1, 1}, 1};
  EXPECT_NEAR(least_squares(constant, std::vector<double>{1, 2, 6}, std::vector<double>{1, 1, 2})->coefficients[0], 3.75, 1e-12);
}

TEST(LeastSquares, ColumnsOfVeryDifferentSizeDoNotSpoilIt) {
  Design design{{}, 2};
  core::Random random(3);
  for (int i = 0; i < 30; ++i) design.values.insert(design.values.end(), {random.uniform() * 1e12, random.uniform() * 1e-6});
  const auto fit = least_squares(design, targets_of(design, {1e-9, 1e9}));
  EXPECT_NEAR(fit->coefficients[0] / 1e-9, 1, 1e-9);
  EXPECT_NEAR(fit->coefficients[1] / 1e9, 1, 1e-9);
}

TEST(LeastSquares, StandardErrorsAreWhatRepetitionShows) {
  double squares = 0, stated = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto fit = least_squares(parabola(20), targets_of(parabola(20), {5, -2, 0.5}, 1, seed));
    squares += std::pow(fit->coefficients[1] + 2, 2) / 400;
    stated += fit->standard_errors[1] / 400;
  }
  EXPECT_NEAR(std::sqrt(squares) / stated, 1, 0.12);
}

TEST(LeastSquares, RefusesUnderdeterminedFits) {
  const std::vector<double> three{1, 2, 3};
  EXPECT_EQ(code_of(least_squares({{1, 2, 2, 4, 3, 6}, 2}, three)), ErrorCode::invalid_input);             // dependent columns
  EXPECT_EQ(code_of(least_squares({{1, 0, 1, 0, 1, 0}, 2}, three)), ErrorCode::invalid_input);             // a column of zeros
  EXPECT_EQ(code_of(least_squares({{1, 2, 3}, 3}, std::vector<double>{1})), ErrorCode::invalid_argument);  // too few rows
  EXPECT_EQ(code_of(least_squares({{1, 2, 3, 4}, 3}, std::vector<double>{1})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(least_squares({{}, 0}, {})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(least_squares({{1, NAN, 1}, 1}, three)), ErrorCode::invalid_input);
  EXPECT_EQ(code_of(least_squares({{1, 1, 1}, 1}, three, std::vector<double>{1, 0, 1})), ErrorCode::invalid_input);
}

TEST(NonNegative, EqualsLeastSquaresWhereThatIsPositive) {
  const std::vector<double> targets = targets_of(parabola(12), {5, 2, 0.5}, 0.1);
  const auto free = least_squares(parabola(12), targets), bounded = non_negative_least_squares(parabola(12), targets);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(free->coefficients[j], bounded->coefficients[j], 1e-8);
}

// Against trying every set of free columns.
TEST(NonNegative, NoSetOfColumnsIsBetter) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    core::Random random(seed);
    Design design{{}, 4};
    std::vector<double> targets;
    for (int i = 0; i < 9; ++i) {
      for (int j = 0; j < 4; ++j) design.values.push_back(random.normal());
      targets.push_back(random.normal());
    }
    double best = INFINITY;
    for (unsigned set = 1; set < 16; ++set) {
      Design part{{}, 0};
      for (unsigned j = 0; j < 4; ++j) part.columns += set >> j & 1;
      for (std::size_t i = 0; i < 9; ++i)
        for (unsigned j = 0; j < 4; ++j)
          if (set >> j & 1) part.values.push_back(design.values[4 * i + j]);
      const auto fit = least_squares(part, targets);
      bool allowed = true;
      for (const double coefficient : fit->coefficients) allowed = allowed && coefficient >= 0;
      if (allowed) best = std::min(best, fit->residual_deviation * std::sqrt(9.0 - static_cast<double>(part.columns)));
    }
    double zero = 0;
    for (const double target : targets) zero += target * target;
    const auto fit = non_negative_least_squares(design, targets);
    for (const double coefficient : fit->coefficients) EXPECT_GE(coefficient, 0);
    EXPECT_NEAR(fit->residual_deviation * std::sqrt(5.0), std::min(best, std::sqrt(zero)), 1e-9) << seed;
  }
}

TEST(NonNegative, DependentColumnsAreAllowed) {
  const auto fit = non_negative_least_squares({{1, 2, 2, 4, 3, 6}, 2}, std::vector<double>{1, 2, 3});
  EXPECT_NEAR(fit->coefficients[0] + 2 * fit->coefficients[1], 1, 1e-9);
}

TEST(TheilSen, OutliersDoNotMoveIt) {
  std::vector<double> x, y;
  for (int i = 0; i < 20; ++i) {
    x.push_back(i);
    y.push_back(i % 5 == 0 ? 1000 : 3 + 2 * i);
  }
  const auto line = theil_sen(x, y);
  EXPECT_NEAR(line->slope, 2, 1e-9);
  EXPECT_NEAR(line->intercept, 3, 1e-9);
}

TEST(TheilSen, IntervalCoversTrueValue) {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    core::Random random(seed);
    std::vector<double> x, y;
    for (int i = 0; i < 15; ++i) {
      x.push_back(i);
      y.push_back(2 * i + random.normal());
    }
    const Interval interval = *theil_sen(x, y)->slope_ci95;
    inside += interval.low <= 2 && 2 <= interval.high;
  }
  EXPECT_NEAR(inside, 287, 14);
}

// Long series are searched instead of sorted: the result is that of all slopes in order.
TEST(TheilSen, LongSeriesGiveTheRanksOfAllSlopes) {
  for (int kind = 0; kind < 5; ++kind) {
    core::Random random(static_cast<std::uint64_t>(kind) + 1);
    std::vector<double> x, y, slopes;
    for (int i = 0; i < 601 + kind; ++i) {
      x.push_back(kind == 1 ? i / 7 : i);  // ties
      y.push_back(kind == 2 ? i % 3 : kind == 3 ? 4 : kind == 4 ? std::pow(10, random.normal() * 20) : 0.1 * i + random.normal());
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = i + 1; j < x.size(); ++j)
        if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    std::sort(slopes.begin(), slopes.end());
    const double n = static_cast<double>(x.size()), count = static_cast<double>(slopes.size());
    const double reach = 1.959963984540054 * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
    const auto line = theil_sen(x, y);
    ASSERT_TRUE(line) << kind;
    EXPECT_EQ(line->slope, (slopes[(slopes.size() - 1) / 2] + slopes[slopes.size() / 2]) / 2) << kind;
    EXPECT_EQ(line->slope_ci95->low, slopes[static_cast<std::size_t>(std::floor((count - reach) / 2) - 1)]) << kind;
    EXPECT_EQ(line->slope_ci95->high, slopes[static_cast<std::size_t>(std::ceil((count + reach) / 2))]) << kind;
  }
}

TEST(TheilSen, RejectsDegenerateLines) {
  const std::vector<double> same{1, 1, 1}, three{1, 2, 3}, four{1, 2, 3, 4};
  EXPECT_EQ(code_of(theil_sen(same, three)), ErrorCode::invalid_input);
  EXPECT_EQ(code_of(theil_sen(three, four)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(theil_sen({}, {})), ErrorCode::invalid_input);
  EXPECT_EQ(code_of(theil_sen(std::vector<double>(3001, 1), std::vector<double>(3001, 1))), ErrorCode::invalid_argument);
  EXPECT_FALSE(theil_sen(three, three)->slope_ci95);
}

TEST(Isotonic, PoolsViolators) {
  EXPECT_EQ(*isotonic(std::vector<double>{1, 3, 2, 4}), (std::vector<double>{1, 2.5, 2.5, 4}));
  EXPECT_EQ(*isotonic(std::vector<double>{3, 2, 1}), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(*isotonic(std::vector<double>{2, 1}, std::vector<double>{3, 1}), (std::vector<double>{1.75, 1.75}));
  EXPECT_TRUE(isotonic({})->empty());
}

TEST(Isotonic, RefusesBadValuesAndWeights) {
  EXPECT_FALSE(isotonic(std::vector<double>{NAN}));
  EXPECT_FALSE(isotonic(std::vector<double>{1, 2}, std::vector<double>{1}));
  EXPECT_FALSE(isotonic(std::vector<double>{1, 2}, std::vector<double>{1, -1}));
}

}  // namespace
}  // namespace aaco::stats
