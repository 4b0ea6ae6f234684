#include "analytics/late_rank.h"

#include <gtest/gtest.h>

namespace aaco::analytics::collectives {
namespace {

constexpr double kSpanNs = 100'000;

class LateRankTest : public testing::Test {
 protected:
  // One operation of two ranks that ends at once.
  void both(std::int64_t start_0, std::int64_t start_1, std::int64_t end, const char* operation = "all_reduce") {
    for (const auto& [rank, start] : {std::pair(0, start_0), std::pair(1, start_1)}) {
      trace::CollectiveRow row;
      row.rank = rank;
      row.operation = names_.intern(operation);
      row.start_ns = start;
      row.end_ns = end;
      rows_.push_back(row);
    }
  }
  std::optional<LateRank> found(double span_ns = kSpanNs) { return late_rank(match(rows_, names_), span_ns); }
  trace::NameTable names_;
  std::vector<trace::CollectiveRow> rows_;
};

TEST_F(LateRankTest, IsTheOneThatWaitsLeast) {
  for (int i = 0; i < 4; ++i) both(i * 10'000, i * 10'000 + 5'000, i * 10'000 + 6'000);
  const auto late = found();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->late.rank, 1);
  EXPECT_EQ(late->late.late_count, 4);
  EXPECT_EQ(late->waits.rank, 0);
  EXPECT_EQ(late->waits.wait_ns, 20'000);
  EXPECT_EQ(late->method, WaitMethod::arrival);
}
TEST_F(LateRankTest, FoundByDurationsOfUnalignedClocks) {
  for (int i = 0; i < 4; ++i) both(i * 10'000, i * 10'000 + 5'000, i * 10'000 + 6'000);
  for (auto& row : rows_)
    if (row.rank == 1) row.start_ns += 9'000'000, row.end_ns += 9'000'000;
  const auto late = found();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->late.rank, 1);
  EXPECT_EQ(late->method, WaitMethod::duration);
}
TEST_F(LateRankTest, NoneWhereBothWaitAlike) {
  both(0, 5'000, 6'000), both(15'000, 10'000, 16'000), both(20'000, 25'000, 26'000), both(35'000, 30'000, 36'000);
  EXPECT_FALSE(found());
}
TEST_F(LateRankTest, NoneWhereTheWaitsAreShort) {
  for (int i = 0; i < 4; ++i) both(i * 10'000, i * 10'000 + 100, i * 10'000 + 6'000);
  EXPECT_FALSE(found());
  EXPECT_TRUE(found(10'000));
  EXPECT_FALSE(found(0)) << "no span";
}
TEST_F(LateRankTest, NoneFromTwoOperations) {
  both(0, 50'000, 51'000), both(60'000, 90'000, 91'000);
  EXPECT_FALSE(found());
}
TEST_F(LateRankTest, NoneFromOneRankOrFromBroadcasts) {
  for (int i = 0; i < 4; ++i) both(i * 10'000, i * 10'000 + 5'000, i * 10'000 + 6'000, "broadcast");
  EXPECT_FALSE(found()) << "a broadcast does not wait for all";
  rows_.clear();
  for (int i = 0; i < 4; ++i) both(i * 10'000, i * 10'000 + 5'000, i * 10'000 + 6'000);
  std::erase_if(rows_, [](const auto& row) { return row.rank == 1; });
  EXPECT_FALSE(found());
}
TEST(HostOperation, IsTheRangeOfAProcessGroup) {
  EXPECT_EQ(host_operation("gloo:all_reduce"), "all_reduce");
  EXPECT_EQ(host_operation("nccl:barrier"), "barrier");
  for (const char* other : {"", "aten::mm", "gloo", "allreduce", "my gloo:barrier"})
    EXPECT_EQ(host_operation(other), "") << other;
}

}  // namespace
}  // namespace aaco::analytics::collectives
