#include "analytics/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace aaco::analytics::agreement {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Agreement compare(const std::vector<double>& reference, const std::vector<double>& candidate, std::int64_t row = 0) {
  AgreementAccount account;
  account.add(reference, candidate, row, true);
  account.end_input();
  return account.result();
}

TEST(Agreement, EqualOutputsHaveNoError) {
  const Agreement same = compare({1, -2, 3}, {1, -2, 3}, 3);
  EXPECT_EQ(same.max_error, 0);
  EXPECT_DOUBLE_EQ(same.cosine, 1);
  EXPECT_EQ(same.top1_ratio, 1.0);
  EXPECT_EQ(violation(same, {}), "");
}
TEST(Agreement, ErrorIsRelativeToTheRms) {
  const Agreement off = compare({3, 4, 3, 4}, {3, 4.5, 3, 4});
  EXPECT_DOUBLE_EQ(off.max_error, 0.5);
  EXPECT_DOUBLE_EQ(off.mean_error, 0.125);
  EXPECT_NEAR(off.max_error_ratio, 0.5 / 3.5355339, 1e-6);
}
TEST(Agreement, OutputsWithoutAFiniteNumberAreNoAgreement) {
  EXPECT_THAT(violation(compare({kNan, kInfinity}, {kNan, 1}), {}), HasSubstr("nothing to compare"));
}
TEST(Agreement, ErrorAboveTheToleranceIsRefused) {
  EXPECT_THAT(violation(compare({1, 1}, {1, 1.01}), {}), HasSubstr("tolerance 0.001"));
  EXPECT_EQ(violation(compare({1, 1}, {1, 1.01}), {Tolerance::Kind::error, 0.02}), "");
}
TEST(Agreement, NanIsRefusedWhateverTheTolerance) {
  const Agreement broken = compare({1, 2}, {1, kNan});
  EXPECT_EQ(broken.not_finite, 1);
  EXPECT_THAT(violation(broken, {Tolerance::Kind::error, 1e9}), HasSubstr("NaN"));
}
TEST(Agreement, InfinityOfTheReferenceIsNotCompared) { EXPECT_EQ(violation(compare({1, -kInfinity}, {1, -1e30}), {}), ""); }
TEST(Agreement, OtherSizeIsRefused) { EXPECT_THAT(violation(compare({1, 2}, {1}), {}), HasSubstr("elements")); }
TEST(Agreement, Top1CountsRows) {
  const Agreement half = compare({0, 1, 1, 0}, {0, 1, 0, 1}, 2);
  EXPECT_EQ(half.top1_ratio, 0.5);
  EXPECT_THAT(violation(half, {Tolerance::Kind::top1, 0.99}), HasSubstr("top-1"));
  EXPECT_EQ(violation(half, {Tolerance::Kind::top1, 0.5}), "");
}
TEST(Agreement, Top1NeedsClasses) {
  EXPECT_THAT(violation(compare({1}, {1}), {Tolerance::Kind::top1, 0.9}), HasSubstr("no classes"));
}
TEST(Agreement, ZeroReferenceCountsTheErrorItself) { EXPECT_DOUBLE_EQ(compare({0, 0}, {0, 0.5}).max_error_ratio, 0.5); }
TEST(Agreement, TheWorstInputCounts) {
  AgreementAccount account;
  account.add(std::vector<double>{1, 1}, std::vector<double>{1, 1}, 0, true);
  account.end_input();
  account.add(std::vector<double>{1, 0}, std::vector<double>{0, 1}, 0, true);
  account.end_input();
  EXPECT_EQ(account.result().inputs, 2);
  EXPECT_DOUBLE_EQ(account.result().cosine, 0);
}

}  // namespace
}  // namespace aaco::analytics::agreement
