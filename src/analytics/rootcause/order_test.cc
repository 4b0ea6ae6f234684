#include <gtest/gtest.h>

#include <memory>

#include "analytics/change_order.h"

namespace aaco::analytics::rootcause {
namespace {

using trace::LoopBlockRow;

struct Blocks {
  std::shared_ptr<trace::NameTable> names = std::make_shared<trace::NameTable>();
  std::vector<LoopBlockRow> blocks;
  void add(std::int64_t wait_ns, std::int64_t faults, std::int64_t calls = 10, const char* phase = "measure") {
    LoopBlockRow row;
    row.phase = names->intern(phase);
    row.start_ns = static_cast<std::int64_t>(blocks.size()) * 100'000'000 + 5;
    row.end_ns = row.start_ns + 100'000'000;
    row.call_count = calls;
    row.caller_wait_ns = wait_ns;
    row.minor_faults = faults;
    blocks.push_back(row);
  }
};

Blocks calm(std::size_t count = 10) {
  Blocks run;
  for (std::size_t i = 0; i < count; ++i) run.add(100'000 + static_cast<std::int64_t>(i % 3) * 10'000, 5);
  return run;
}

std::vector<std::string> order(const Blocks& a, const Blocks& b) {
  std::vector<std::string> names;
  for (const auto& one : order_of_changes(a.blocks, b.blocks, *a.names, *b.names)) names.push_back(one.signal);
  return names;
}

TEST(ChangeOrder, OrdersChangesByTime) {
  Blocks b;
  for (int i = 0; i < 10; ++i) b.add(i >= 5 ? 40'000'000 : 100'000, i >= 3 ? 9'000 : 5, i >= 5 ? 6 : 10);
  EXPECT_EQ(order(calm(), b), (std::vector<std::string>{"faults_per_second", "caller.wait_ratio", "call_ns"}));
  const Blocks a = calm();
  const auto found = order_of_changes(a.blocks, b.blocks, *a.names, *b.names);
  EXPECT_EQ(found[0].since_ns, 300'000'000);
  EXPECT_DOUBLE_EQ(found[0].after, 90'000);
  EXPECT_EQ(found[1].since_ns, 500'000'000);
}

TEST(ChangeOrder, NoChangesBetweenEqualRuns) { EXPECT_TRUE(order(calm(), calm()).empty()); }

TEST(ChangeOrder, IsolatedBlockIsNotAChange) {
  Blocks b = calm();
  b.blocks[4].caller_wait_ns = 60'000'000;
  EXPECT_TRUE(order(calm(), b).empty());
}

TEST(ChangeOrder, DecreasesAreChangesToo) {
  Blocks a;
  for (int i = 0; i < 8; ++i) a.add(50'000'000, 5);
  EXPECT_EQ(order(a, calm()), (std::vector<std::string>{"caller.wait_ratio"}));
}

TEST(ChangeOrder, IgnoresTelemetryBlocksAndShortRuns) {
  Blocks b;
  for (int i = 0; i < 10; ++i) b.add(60'000'000, 5, 10, "measure_telemetry");
  EXPECT_TRUE(order(calm(), b).empty());
  EXPECT_TRUE(order(calm(3), calm(3)).empty());
}

TEST(ChangeOrder, SkipsUnmeasuredCounters) {
  Blocks b;
  for (int i = 0; i < 10; ++i) b.add(60'000'000, 9'000);
  for (auto& row : b.blocks) row.caller_wait_ns.reset();
  EXPECT_EQ(order(calm(), b), (std::vector<std::string>{"faults_per_second"}));
}

TEST(Chain, DescribesTheLongestGap) {
  trace::NameTable names;
  trace::GapRow gap;
  gap.start_ns = 1000;
  gap.end_ns = 9000;
  gap.cause = names.intern("host_late");
  gap.previous = names.intern("gemm");
  gap.next = names.intern("relu");
  gap.evidence = names.intern("aten::item");
  gap.evidence_start_ns = 500;
  gap.evidence_end_ns = 7000;
  gap.launch_start_ns = 7500;
  gap.launch_end_ns = 8000;
  trace::GapRow shorter = gap;
  shorter.end_ns = 2000;
  trace::GapRow unknown = gap;
  unknown.end_ns = 50'000;
  unknown.launch_start_ns.reset();
  const std::vector<trace::GapRow> gaps = {shorter, gap, unknown};
  const auto chain = chain_of_longest(gaps, names);
  ASSERT_EQ(chain.size(), 6U);
  EXPECT_EQ(chain.front().at_ns, -500);
  EXPECT_EQ(chain.front().what, "the host enters aten::item");
  EXPECT_EQ(chain[1].at_ns, 0);
  EXPECT_EQ(chain.back().at_ns, 8000);
  EXPECT_TRUE(chain_of_longest(std::vector<trace::GapRow>{unknown}, names).empty());
}

}  // namespace
}  // namespace aaco::analytics::rootcause
