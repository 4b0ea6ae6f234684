#include "collectors/pace.h"

#include <gtest/gtest.h>

namespace aaco::collectors {
namespace {

constexpr core::Nanoseconds kAsked{10'000'000};

core::Nanoseconds with_cost_us(std::int64_t each_us) {
  return affordable_period(kAsked, core::Nanoseconds(each_us * 1000 * 25), 25);
}

TEST(AffordablePeriod, CheapSamplesKeepThePeriod) {
  EXPECT_EQ(with_cost_us(0), kAsked);
  EXPECT_EQ(with_cost_us(50), kAsked);
}
TEST(AffordablePeriod, ExpensiveSamplesStretchIt) {
  EXPECT_EQ(with_cost_us(100), core::Nanoseconds(20'000'000));
  EXPECT_EQ(with_cost_us(75), core::Nanoseconds(15'000'000));
}
TEST(AffordablePeriod, IsBounded) { EXPECT_EQ(with_cost_us(1'000'000), kMaxStretch * kAsked); }
TEST(AffordablePeriod, WithoutSamplesIsTheAskedOne) { EXPECT_EQ(affordable_period(kAsked, core::Nanoseconds(1), 0), kAsked); }

}  // namespace
}  // namespace aaco::collectors
