#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analytics/rootcause.h"
#include "analytics/rootcause/sides_testing.h"

namespace aaco::analytics::rootcause {
namespace {

// A mean call of a caller that computes, waits for a CPU and sleeps this long.
Side loaded(double cpu, double wait, double asleep = 0) {
  Side side = calm();
  auto& call = *side.account;
  side.call_ns = call.wall_ns = cpu + wait + asleep;
  call.cpu_ns = call.process_cpu_ns = cpu;
  call.wait_ns = wait;
  call.blocked_ns = asleep;
  side.signals.set("process.cpu_use_cores", 0.5);
  side.signals.set("others.cpu_use_cores", 1.5);
  side.signals.set("others.wait_ratio", 0.9);
  return side;
}

std::string first_of(const MedianSides& sides) { return first_cause(sides.a, sides.b); }

TEST(MedianSides, ComputingExplainsTheMedianWhereTheMeanWaits) {
  const Side a = loaded(261, 420), b = loaded(324, 610);
  ASSERT_EQ(first_cause(a, b), "cpu_contention");  // what the mean tells
  const auto sides = median_sides(a, b, 246, 310);
  ASSERT_TRUE(sides);
  EXPECT_EQ(first_of(*sides), "slower_execution");
  const auto difference = decompose(sides->a, sides->b);
  double sum = difference->unexplained_ns;
  for (const Part& part : difference->parts) {
    sum += part.ns;
    EXPECT_NE(part.id, "run_queue_wait");
  }
  EXPECT_DOUBLE_EQ(difference->delta_ns, 64);
  EXPECT_NEAR(sum, 64, 1e-9);
}

TEST(MedianSides, PageFaultsOfTheMedian) {
  Side a = loaded(261, 700), b = loaded(377, 1330);
  b.account->minor_faults = 64;
  b.account->system_ns = 92;
  const auto sides = median_sides(a, b, 246, 357);
  ASSERT_TRUE(sides);
  EXPECT_EQ(first_of(*sides), "page_faults");
}

TEST(MedianSides, AMeanThatMovesTheOtherWay) {
  const auto sides = median_sides(loaded(265, 990), loaded(281, 890), 248, 263);
  ASSERT_TRUE(sides);
  EXPECT_GT(decompose(sides->a, sides->b)->delta_ns, 0);
  EXPECT_NE(first_of(*sides), "cpu_contention");
}

TEST(MedianSides, FasterTheSame) {
  const auto sides = median_sides(loaded(324, 610), loaded(261, 420), 310, 246);
  ASSERT_TRUE(sides);
  EXPECT_EQ(first_of(*sides), "slower_execution");
}

TEST(MedianSides, NothingIsNotKnownAsZero) {
  const auto sides = median_sides(loaded(261, 420), loaded(324, 610), 246, 310);
  ASSERT_TRUE(sides);
  EXPECT_FALSE(sides->a.account->wait_ns);
  EXPECT_FALSE(sides->b.account->blocked_ns);
  EXPECT_DOUBLE_EQ(*sides->b.account->cpu_ns + *sides->b.account->unexplained_ns, sides->b.account->wall_ns);
}

TEST(MedianSides, TheTypicalCallTellsWhatTheMedianWaitedFor) {
  Side a = loaded(1400, 100), b = loaded(6900, 3200);
  b.account->minor_faults = 2000;
  b.account->system_ns = 4000;
  a.typical = scheduling::TypicalCall{100, 1300, 10, 0};
  b.typical = scheduling::TypicalCall{100, 9100, 2200, 100};
  const auto sides = median_sides(a, b, 1340, 9020);
  ASSERT_TRUE(sides);
  const auto difference = decompose(sides->a, sides->b);
  double sum = difference->unexplained_ns, waited = 0;
  for (const Part& part : difference->parts) {
    sum += part.ns;
    if (part.id == "run_queue_wait") waited = part.ns;
  }
  EXPECT_NEAR(sum, 7680, 1e-6);
  EXPECT_NEAR(waited, 2200.0 / 9100 * 9020 - 10.0 / 1300 * 1340, 1e-6);
  EXPECT_NEAR(difference->unexplained_ns, 0, 0.01 * 7680);
  a.typical.reset();
  EXPECT_GT(decompose(median_sides(a, b, 1340, 9020)->a, median_sides(a, b, 1340, 9020)->b)->unexplained_ns, 0.25 * 7680)
      << "one side alone does not divide the difference";
}

TEST(MedianSides, EventsThatOverlapDivideNothing) {
  Side a = loaded(1400, 100), b = loaded(6900, 3200);
  a.typical = scheduling::TypicalCall{100, 1300, 10, 0};
  b.typical = scheduling::TypicalCall{100, 9100, 8000, 2000};
  EXPECT_FALSE(median_sides(a, b, 1340, 9020)->b.account->wait_ns);
}

TEST(MedianSides, RefusedWhereTheMeansTellTheSame) { EXPECT_FALSE(median_sides(loaded(261, 10), loaded(324, 12), 262, 325)); }

TEST(MedianSides, RefusedWhereComputingDoesNotExplain) {
  EXPECT_FALSE(median_sides(loaded(261, 420), loaded(265, 900), 400, 900));         // the median waits too
  EXPECT_FALSE(median_sides(loaded(261, 420), loaded(300, 420, 2000), 250, 2000));  // it sleeps
  EXPECT_FALSE(median_sides(loaded(261, 420), loaded(324, 610), 250, 260));         // it computes less than it is said to
}

TEST(MedianSides, RefusedWithoutCounts) {
  Side without = loaded(261, 420);
  without.account.reset();
  EXPECT_FALSE(median_sides(without, loaded(324, 610), 246, 310));
  EXPECT_FALSE(median_sides(loaded(261, 420), loaded(324, 610), 0, 310));
  EXPECT_FALSE(median_sides(loaded(261, 420), loaded(324, 610), 246, 246));
}

}  // namespace
}  // namespace aaco::analytics::rootcause
