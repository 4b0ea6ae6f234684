#include "workflows/explain/arithmetic_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

analytics::signals::Signals computing(std::optional<double> flops_per_second, double cpus) {
  analytics::signals::Signals signals;
  signals.set("work.flops_per_second", flops_per_second);
  signals.set("process.cpu_use_cores", cpus);
  return signals;
}

core::Json document(const char* class_id = "compute_bound") {
  return core::Json::object({{"bottleneck_class", class_id}, {"title", "compute throughput"}, {"meaning", "The CPU computes."}});
}

std::string meaning(const analytics::signals::Signals& signals) {
  return std::string(with_arithmetic_rate(document(), signals)["meaning"].text());
}

TEST(ArithmeticRate, ALowRateExcludesTheArithmeticUnits) {
  const auto slow = computing(0.8e9, 1);
  EXPECT_EQ(arithmetic_limit(slow), ArithmeticLimit::excluded);
  EXPECT_THAT(meaning(slow), HasSubstr("0.8 GFLOP/s per CPU in use"));
  EXPECT_THAT(meaning(slow), HasSubstr("not known"));
  EXPECT_THAT(std::string(with_arithmetic_rate(document(), slow)["title"].text()), HasSubstr("not by arithmetic throughput"));
}

TEST(ArithmeticRate, CountsPerCpuInUse) {
  EXPECT_EQ(arithmetic_limit(computing(12e9, 1)), ArithmeticLimit::likely);
  EXPECT_EQ(arithmetic_limit(computing(12e9, 4)), ArithmeticLimit::excluded);
}

TEST(ArithmeticRate, AHighRateKeepsTheTitle) {
  const auto fast = computing(60e9, 1);
  EXPECT_EQ(with_arithmetic_rate(document(), fast)["title"].text(), "compute throughput");
  EXPECT_THAT(meaning(fast), HasSubstr("60 GFLOP/s per CPU in use, arithmetic throughput is the likely limit"));
}

TEST(ArithmeticRate, OperationsThatAreNotCountedSayNothing) {
  EXPECT_EQ(arithmetic_limit(computing({}, 1)), ArithmeticLimit::unknown);
  EXPECT_EQ(arithmetic_limit(computing(1e9, 0)), ArithmeticLimit::unknown);
  EXPECT_THAT(meaning(computing({}, 1)), HasSubstr("not known"));
}

TEST(ArithmeticRate, OtherClassesAreUnchanged) {
  const auto other = document("memory_bound");
  EXPECT_EQ(with_arithmetic_rate(other, computing(0.8e9, 1)), other);
}

TEST(ArithmeticRate, AdviceFollowsTheRate) {
  std::vector<analytics::advice::Recommendation> list(2);
  list[0].id = "compute_bound", list[0].title = "try int8";
  list[1].id = "memory_bound", list[1].title = "fuse";
  list[0].gain_ratio = 0.7, list[0].least_gain_ratio = 0.3;
  auto kept = list;
  follow_arithmetic_rate(computing(60e9, 1), kept);
  EXPECT_EQ(kept[0].title, "try int8");
  EXPECT_EQ(kept[0].least_gain_ratio, 0.3);
  follow_arithmetic_rate(computing(0.8e9, 1), list);
  EXPECT_THAT(list[0].title, HasSubstr("find the functions"));
  EXPECT_THAT(list[0].text, Not(HasSubstr("int8")));
  EXPECT_EQ(list[0].gain_ratio, 0);
  EXPECT_EQ(list[0].least_gain_ratio, 0);
  EXPECT_EQ(list[0].cost_ratio, 0.7);
  EXPECT_EQ(list[1].title, "fuse");
}

}  // namespace
}  // namespace aaco::workflows
