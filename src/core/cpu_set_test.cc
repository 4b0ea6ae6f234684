#include "core/cpu_set.h"

#include <gtest/gtest.h>

#include <thread>

namespace aaco::core {
namespace {

TEST(CpuSet, ListsRangesAndSingleCpus) {
  EXPECT_EQ(cpu_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(cpu_list({3}), "3");
  EXPECT_EQ(cpu_list({}), "");
}

TEST(CpuSet, ReadsRangesAndNumbers) { EXPECT_EQ(parse_cpu_list("0-2,5\n"), (std::vector<std::int64_t>{0, 1, 2, 5})); }

TEST(CpuSet, MalformedListsAreEmpty) {
  for (const char* text : {"", "a", "3-1", "-1", "0-", "0-99999999999", "1,,2"})
    EXPECT_TRUE(parse_cpu_list(text).empty()) << text;
}

TEST(CpuSet, PinsTheCallingThreadOnly) {
  const auto before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  std::vector<int> pinned;
  std::thread([&] {
    if (pin_to({before.back()})) pinned = allowed_cpus();
  }).join();
  EXPECT_EQ(pinned, std::vector<int>{before.back()});
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(CpuSet, RefusesNoCpu) { EXPECT_FALSE(pin_to({})); }

}  // namespace
}  // namespace aaco::core
