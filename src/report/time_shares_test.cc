#include "report/time_shares.h"

#include <gtest/gtest.h>

namespace aaco::report {
namespace {

TEST(MergedByName, EntriesOfOneNameTogetherLargestFirst) {
  const auto merged = merged_by_name({{.name = "a", .total_ns = 3, .share_ratio = 0.3, .count = 1},
                                      {.name = "b", .total_ns = 4, .share_ratio = 0.4, .count = 2},
                                      {.name = "a", .total_ns = 2, .share_ratio = 0.2, .count = 5}});
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].name, "a");
  EXPECT_EQ(merged[0].total_ns, 5);
  EXPECT_EQ(merged[0].share_ratio, 0.5);
  EXPECT_EQ(merged[0].count, 6);
  EXPECT_EQ(merged[1].name, "b");
}

TEST(NamesFor, WhatFitsStaysAndNoTwoGetTheSame) {
  const std::vector<std::string> names{"void a::f<int>(int)", "void b::f<int>(float, float, float)",
                                       "void c::g<b::Long>(float, float)"};
  EXPECT_EQ(names_for(names, 100), names);
  EXPECT_EQ(names_for(names, 25), (std::vector<std::string>{names[0], "f<int>", "g<Long>"}));
  EXPECT_EQ(names_for({names[2], names[2]}, 25), (std::vector<std::string>{"g<Long>", "g<Long>"}));
  EXPECT_EQ(names_for(names, 10), (std::vector<std::string>{names[0], names[1], "g<Long>"}));
}

}  // namespace
}  // namespace aaco::report
