#include "stats/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <new>

#include "core/random.h"
#include "stats/summary.h"

namespace {
std::int64_t allocations = 0;
}  // namespace

// Counts what this test program allocates. GCC 12 takes the replaced pair for a mismatch where it inlines one side only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#pragma GCC diagnostic pop

namespace aaco::stats {
namespace {

using Kind = StoppingOptions::Kind;
using testing::HasSubstr;

// Feeds normal durations of 1 ms until the rule is done; answers what was fed.
std::vector<double> feed(StoppingRule& rule, double noise, double correlation = 0, std::int64_t most = 1'000'000) {
  core::Random random(11);
  std::vector<double> series;
  double state = random.normal();
  while (!rule.done() && static_cast<std::int64_t>(series.size()) < most) {
    state = correlation * state + std::sqrt(1 - correlation * correlation) * random.normal();
    series.push_back(std::round(1e6 * (1 + noise * state)));
    rule.add(static_cast<std::int64_t>(series.back()));
  }
  return series;
}

TEST(Stopping, FixedIterations) {
  StoppingRule rule({.kind = Kind::iterations, .iterations = 37});
  EXPECT_EQ(feed(rule, 0.1).size(), 37U);
  EXPECT_EQ(rule.reason(), StopReason::iterations);
}

TEST(Stopping, ByTime) {
  StoppingRule rule({.kind = Kind::time, .time_ns = 50'000'000});
  EXPECT_EQ(feed(rule, 0).size(), 50U);
  EXPECT_EQ(rule.reason(), StopReason::time);
  EXPECT_EQ(rule.elapsed_ns(), 50'000'000);
}

TEST(Stopping, TimeLimitRespectsMinimumIterations) {
  StoppingRule rule({.kind = Kind::time, .time_ns = 1, .minimum_iterations = 5});
  EXPECT_EQ(feed(rule, 0).size(), 5U);
}

TEST(Stopping, PrecisionMatchesSummary) {
  StoppingRule rule({.kind = Kind::precision, .precision_ratio = 0.01});
  const std::vector<double> series = feed(rule, 0.05);
  ASSERT_EQ(rule.reason(), StopReason::precision);
  // Normal values: the interval is 2 x 1.96 x 1.2533 x 0.05 / sqrt(n) wide, so n is near 600.
  EXPECT_NEAR(static_cast<double>(series.size()), 600, 200);
  const Quantile median = *summarize(series).p50;
  EXPECT_LE((median.ci95->high - median.ci95->low) / median.value, 0.0125);
}

TEST(Stopping, CorrelationTakesLonger) {
  StoppingRule independent({.kind = Kind::precision, .precision_ratio = 0.01});
  StoppingRule correlated({.kind = Kind::precision, .precision_ratio = 0.01});
  EXPECT_GT(feed(correlated, 0.05, 0.8).size(), 2 * feed(independent, 0.05).size());
}

TEST(Stopping, QuietSeriesStopsAtTheFirstLook) {
  StoppingRule rule({.kind = Kind::precision});
  EXPECT_EQ(feed(rule, 1e-5).size(), 20U);
}

TEST(Stopping, RefusesPrecisionBeforeMinimumIterations) {
  StoppingRule rule({.kind = Kind::precision, .minimum_iterations = 500});
  EXPECT_GE(feed(rule, 1e-5).size(), 500U);
}

TEST(Stopping, PrecisionNeverReachedEndsAtTheIterationLimit) {
  StoppingRule rule({.kind = Kind::precision, .precision_ratio = 0.001, .maximum_iterations = 300});
  EXPECT_EQ(feed(rule, 0.3).size(), 300U);
  EXPECT_EQ(rule.reason(), StopReason::iteration_limit);
  EXPECT_GT(*rule.interval_ratio(), 0.001);
}

TEST(Stopping, EveryKindEndsAtTheTimeLimit) {
  for (const Kind kind : {Kind::iterations, Kind::time, Kind::precision}) {
    StoppingRule rule({.kind = kind, .iterations = 1000, .precision_ratio = 1e-9, .maximum_time_ns = 10'000'000});
    EXPECT_EQ(feed(rule, 0.0).size(), 10U);
    EXPECT_EQ(rule.reason(), StopReason::time_limit);
  }
}

TEST(Stopping, ZeroDurationsDoNotCountAsPrecise) {
  StoppingRule rule({.kind = Kind::precision, .maximum_iterations = 100});
  while (!rule.done()) rule.add(0);
  EXPECT_EQ(rule.reason(), StopReason::iteration_limit);
  EXPECT_FALSE(rule.interval_ratio());
}

TEST(Stopping, AddingAfterTheEndChangesNothing) {
  StoppingRule rule({.kind = Kind::precision, .precision_ratio = 0.001, .maximum_iterations = 30});
  (void)feed(rule, 0.3);
  rule.add(1);
  EXPECT_EQ(rule.reason(), StopReason::iteration_limit);
}

TEST(Stopping, ExplainsItself) {
  StoppingRule fresh({.kind = Kind::precision});
  EXPECT_THAT(fresh.explain(), HasSubstr("too few values"));
  StoppingRule limited({.kind = Kind::precision, .precision_ratio = 0.001, .maximum_iterations = 300});
  (void)feed(limited, 0.3);
  EXPECT_THAT(limited.explain(), HasSubstr("iteration limit: 300 iterations"));
  EXPECT_THAT(limited.explain(), HasSubstr("requested: 0.10 %"));
}

TEST(Stopping, AllocatesNothingAfterReserve) {
  StoppingRule rule({.kind = Kind::precision, .precision_ratio = 1e-9, .maximum_iterations = 5000});
  rule.reserve();
  core::Random random(3);
  const std::int64_t before = allocations;
  while (!rule.done()) rule.add(1'000'000 + static_cast<std::int64_t>(random.below(100'000)));
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(rule.count(), 5000);
}

}  // namespace
}  // namespace aaco::stats
