#include "analytics/collectives.h"

#include <gtest/gtest.h>

namespace aaco::analytics::collectives {
namespace {

TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(*bus_factor("all_reduce", 8), 2 * 7.0 / 8);
  EXPECT_DOUBLE_EQ(*bus_factor("reduce_scatter", 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(*bus_factor("all_gather", 2), 0.5);
  EXPECT_DOUBLE_EQ(*bus_factor("all_to_all", 4), 0.75);
  for (const char* one : {"broadcast", "reduce", "send", "recv"}) EXPECT_DOUBLE_EQ(*bus_factor(one, std::nullopt), 1) << one;
}
TEST(BusFactor, NeedsAGroupOfTwo) {
  EXPECT_FALSE(bus_factor("all_reduce", std::nullopt));
  EXPECT_FALSE(bus_factor("all_reduce", 1));
  EXPECT_FALSE(bus_factor("all_gather", -4));
}
TEST(BusFactor, UnknownOperationsHaveNone) {
  for (const char* one : {"", "barrier", "all_shuffle"}) EXPECT_FALSE(bus_factor(one, 8)) << one;
}
TEST(DataBytes, OfAGatherAreTheWhole) {
  EXPECT_EQ(data_bytes("all_gather", 100, 8), 800);
  EXPECT_EQ(data_bytes("all_reduce", 100, 8), 100);
  EXPECT_EQ(data_bytes("reduce_scatter", 100, 8), 100);
}
TEST(DataBytes, AreUnknownWithoutWhatTheyNeed) {
  EXPECT_FALSE(data_bytes("all_gather", 100, std::nullopt));
  EXPECT_FALSE(data_bytes("all_reduce", std::nullopt, 8));
  EXPECT_FALSE(data_bytes("all_reduce", 0, 8));
  EXPECT_FALSE(data_bytes("barrier", 4, 8));
  EXPECT_FALSE(data_bytes("all_gather", INT64_MAX / 2, 8));
}

class MatchTest : public testing::Test {
 protected:
  trace::CollectiveRow& add(std::int32_t rank, std::int64_t start_ns, std::int64_t end_ns, const char* operation = "all_reduce") {
    trace::CollectiveRow row;
    row.rank = rank;
    row.operation = names_.intern(operation);
    row.group = names_.intern("0");
    row.group_size = 2;
    row.bytes = 1000;
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    return rows_.emplace_back(row);
  }
  std::vector<Call> match() { return collectives::match(rows_, names_); }
  trace::NameTable names_;
  std::vector<trace::CollectiveRow> rows_;
};

TEST_F(MatchTest, WaitEndsAtTheLastArrival) {
  add(0, 100, 1'000), add(1, 600, 1'000);
  const auto calls = match();
  EXPECT_EQ(calls[0].instance, calls[1].instance);
  EXPECT_EQ(calls[0].wait_ns, 500);
  EXPECT_EQ(calls[1].wait_ns, 0);
  EXPECT_EQ(calls[0].method, WaitMethod::arrival);
  EXPECT_EQ(calls[0].transfer_ns, 400);
  EXPECT_DOUBLE_EQ(*calls[0].algorithm_bytes_per_s, 1000 / 400e-9);
  EXPECT_DOUBLE_EQ(*calls[0].bus_bytes_per_s, 1000 / 400e-9);  // 2 (n - 1) / n of two ranks
}
TEST_F(MatchTest, UnalignedClocksUseDurations) {
  add(0, 100, 1'000), add(1, 5'000'600, 5'001'000);
  const auto calls = match();
  EXPECT_EQ(calls[0].method, WaitMethod::duration);
  EXPECT_EQ(calls[0].wait_ns, 500);
  EXPECT_EQ(calls[1].wait_ns, 0);
  EXPECT_EQ(calls[1].transfer_ns, 400);
}
TEST_F(MatchTest, OperationsAreMatchedInOrderPerGroupAndKind) {
  add(0, 0, 10), add(0, 20, 30, "all_gather"), add(0, 40, 50);
  add(1, 5, 10), add(1, 25, 30, "all_gather"), add(1, 41, 50);
  const auto calls = match();
  EXPECT_EQ(calls[0].wait_ns, 5);
  EXPECT_EQ(calls[2].wait_ns, 5);
  EXPECT_EQ(calls[4].wait_ns, 1);
  EXPECT_NE(calls[0].instance, calls[4].instance);
}
TEST_F(MatchTest, OneRankHasNoWait) {
  add(0, 0, 10);
  const auto calls = match();
  EXPECT_EQ(calls[0].instance, -1);
  EXPECT_FALSE(calls[0].wait_ns);
  EXPECT_DOUBLE_EQ(*calls[0].algorithm_bytes_per_s, 1000 / 10e-9);  // over its duration
}
TEST_F(MatchTest, UnequalCountsAreNotMatched) {
  add(0, 0, 10), add(0, 20, 30), add(1, 0, 10);
  for (const Call& call : match()) EXPECT_EQ(call.instance, -1);
}
TEST_F(MatchTest, AnotherSizeEndsTheMatching) {
  add(0, 0, 10), add(1, 0, 10), add(0, 20, 30), add(1, 20, 30).bytes = 7;
  const auto calls = match();
  EXPECT_GE(calls[0].instance, 0);
  EXPECT_EQ(calls[2].instance, -1);
}
TEST_F(MatchTest, MoreRanksThanTheGroupAreOtherGroups) {
  add(0, 0, 10), add(1, 0, 10), add(2, 0, 10);
  for (const Call& call : match()) EXPECT_EQ(call.instance, -1);
}
TEST_F(MatchTest, BroadcastsDoNotWaitForAll) {
  add(0, 0, 10, "broadcast"), add(1, 5, 12, "broadcast");
  for (const Call& call : match()) EXPECT_FALSE(call.wait_ns);
}
TEST_F(MatchTest, UnknownOperationsAreKeptUnmatched) {
  add(0, 0, 10, ""), add(1, 0, 10, "");
  const auto calls = match();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].instance, -1);
  EXPECT_FALSE(calls[0].algorithm_bytes_per_s);
}
TEST_F(MatchTest, NegativeAndZeroDurationsHaveNoBandwidth) {
  add(0, 10, 10), add(0, 20, 15);
  for (const Call& call : match()) EXPECT_FALSE(call.algorithm_bytes_per_s);
}
TEST_F(MatchTest, NoRowsGiveNoCalls) { EXPECT_TRUE(match().empty()); }

}  // namespace
}  // namespace aaco::analytics::collectives
