#include <gtest/gtest.h>

#include "analytics/anomaly.h"

namespace aaco::analytics::anomaly {
namespace {

Anomaly anomaly(Kind kind, const char* subject, double value, double expected = 10, std::int64_t start = 1) {
  return {kind, subject, value, expected, 6, start, start + 1, "text"};
}
std::vector<Anomaly> spikes(std::size_t count, double value = 20) {
  std::vector<Anomaly> list;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back(anomaly(Kind::spike, "iteration", value, 10, 100 * static_cast<std::int64_t>(i)));
  return list;
}

TEST(GroupedAnomalies, ManyAlikeBecomeOne) {
  auto list = spikes(454);
  list[7].value = 22;
  const auto found = grouped(list);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 454);
  EXPECT_EQ(found[0].value, 22);
  EXPECT_EQ(found[0].start_ns, 0);
  EXPECT_EQ(found[0].end_ns, 45'301);
  EXPECT_EQ(found[0].text, "454 similar spikes; the largest: text");
}
TEST(GroupedAnomalies, FewStayAsTheyAre) { EXPECT_EQ(grouped(spikes(3)), spikes(3)); }
TEST(GroupedAnomalies, NoneStayNone) { EXPECT_TRUE(grouped({}).empty()); }
TEST(GroupedAnomalies, DifferentSizesStayApart) {
  auto list = spikes(4);
  for (auto& one : spikes(4, 80)) list.push_back(one);
  EXPECT_EQ(grouped(list).size(), 2u);
}
TEST(GroupedAnomalies, CountersOfOtherNamesStayApart) {
  std::vector<Anomaly> list;
  for (const char* name : {"a", "b", "c", "d", "e"}) list.push_back(anomaly(Kind::counter, name, 20));
  EXPECT_EQ(grouped(list), list);
}
TEST(GroupedAnomalies, ExecutionsStayAsTheyAre) {
  const std::vector<Anomaly> list(5, anomaly(Kind::execution, "kernel", 20));
  EXPECT_EQ(grouped(list), list);
}
TEST(GroupedAnomalies, OtherExpectationsStayApart) {
  auto list = spikes(4);
  for (int i = 0; i < 4; ++i) list.push_back(anomaly(Kind::spike, "iteration", 20, 15));
  EXPECT_EQ(grouped(list).size(), 2u);
}

}  // namespace
}  // namespace aaco::analytics::anomaly
