#include "analytics/tracediff/same_kernel.h"

#include <gtest/gtest.h>

#include <string>

namespace aaco::analytics::tracediff {
namespace {

using Names = std::set<std::string_view>;

std::string other(const Names& a, const Names& b) {
  const auto same = written_otherwise(a, b);
  return same.empty() ? "" : std::string(same.begin()->first) + " is " + std::string(same.begin()->second);
}

TEST(SameKernel, WithoutArguments) {
  EXPECT_EQ(other({"void lap<double>(double*, int)"}, {"lap"}), "lap is void lap<double>(double*, int)");
  EXPECT_EQ(other({"lap"}, {"lap<double>"}), "lap<double> is lap");
  EXPECT_EQ(other({"ns::lap"}, {"void ns::lap(int) [clone .kd]"}), "void ns::lap(int) [clone .kd] is ns::lap");
  EXPECT_EQ(other({"lap.kd"}, {"lap(int)"}), "lap(int) is lap.kd");
}
TEST(SameKernel, OtherArgumentsAreAnotherKernel) { EXPECT_EQ(other({"lap<double>"}, {"lap<float>"}), ""); }
TEST(SameKernel, SeveralInstancesAreNotOne) {
  EXPECT_EQ(other({"lap<double>", "lap<float>"}, {"lap"}), "");
  EXPECT_EQ(other({"lap"}, {"lap<double>", "lap<float>"}), "");
  EXPECT_EQ(other({"lap", "lap<double>"}, {"lap<double>"}), "");
}
TEST(SameKernel, OtherFunctions) {
  EXPECT_EQ(other({"lap"}, {"a::lap<double>()"}), "");
  EXPECT_EQ(other({"lap"}, {"gemm<double>"}), "");
}
TEST(SameKernel, EqualNamesAreNoChange) { EXPECT_EQ(other({"lap"}, {"lap"}), ""); }
TEST(SameKernel, NoName) {
  EXPECT_EQ(other({""}, {"<>"}), "");
  EXPECT_EQ(other({}, {"lap"}), "");
  EXPECT_EQ(other({" ("}, {" "}), "");
}

}  // namespace
}  // namespace aaco::analytics::tracediff
