#include <gtest/gtest.h>

#include "analytics/llm_ceiling.h"

namespace aaco::analytics::llm {
namespace {

// A client that is busy in proportion to its load, and a server that writes at most so many chunks per second.
CeilingStep step(double rate, double client_ceiling, double server_ceiling = 1e9) {
  const double received = std::min({rate, server_ceiling, client_ceiling / kBusyClient});
  return {.planned_per_second = rate,
          .received_per_second = received,
          .client_cpu_ratio = kBusyClient * received / client_ceiling,
          .client_run_queue_ratio = 0,
          .server_cpu_ratio = std::min(1.0, received / server_ceiling),
          .server_late_ns = 0};
}

CeilingSearch search(double client_ceiling, double server_ceiling = 1e9) {
  CeilingSearch search(20'000);
  for (int i = 0; i < 60; ++i) {
    const auto rate = search.next();
    if (!rate) return search;
    search.add(step(*rate, client_ceiling, server_ceiling));
  }
  ADD_FAILURE() << "the search does not end";
  return search;
}

void expect_found(double ceiling) {
  const CeilingSearch found = search(ceiling);
  ASSERT_TRUE(found.best()) << ceiling;
  EXPECT_LE(found.best()->planned_per_second, ceiling);
  EXPECT_GE(found.best()->planned_per_second, 0.94 * ceiling);
  EXPECT_FALSE(found.server_limited());
}

TEST(CeilingSearch, FindsAHighCeiling) { expect_found(130'000); }
TEST(CeilingSearch, FindsOneBelowTheFirstRate) { expect_found(3'000); }
TEST(CeilingSearch, FindsOneAtAStep) { expect_found(40'000); }
TEST(CeilingSearch, NamesAServerThatIsTheLimit) {
  const CeilingSearch found = search(1e6, 90'000);
  EXPECT_TRUE(found.server_limited());
  EXPECT_NEAR(found.best()->received_per_second, 90'000, 1'000);
}
TEST(CeilingSearch, HasNoCeilingWhereTheClientNeverKeepsUp) { EXPECT_FALSE(search(10).best()); }
// The search never takes more measurements than it said before.
TEST(CeilingSearch, KnowsHowManyMeasurementsMayFollow) {
  for (const double ceiling : {10.0, 3'000.0, 40'000.0, 130'000.0, 1e12}) {
    CeilingSearch search(20'000);
    int most = search.most_left();
    EXPECT_LT(most, 30);
    while (const auto rate = search.next()) {
      const CeilingStep step{.planned_per_second = *rate, .received_per_second = *rate <= ceiling ? *rate : 0};
      most -= keeps_up(step) ? 1 : 2;
      search.add(step);
      EXPECT_LE(search.most_left(), most) << ceiling << " at " << *rate;
    }
    EXPECT_EQ(search.most_left(), 0);
    EXPECT_GE(most, 0);
  }
}
TEST(CeilingSearch, EndsWhereTheClientAlwaysKeepsUp) { EXPECT_TRUE(search(1e12).best()); }

TEST(KeepsUp, OnlyWithRoom) {
  EXPECT_TRUE(keeps_up({.planned_per_second = 100, .received_per_second = 99, .client_cpu_ratio = 0.8}));
  EXPECT_FALSE(keeps_up({.planned_per_second = 100, .received_per_second = 100, .client_cpu_ratio = 0.95}));
  EXPECT_FALSE(keeps_up({.planned_per_second = 100, .received_per_second = 80, .client_cpu_ratio = 0.5}));
}
TEST(ServerIsLimit, NotWhereTheClientWaitedForACpu) {
  EXPECT_TRUE(server_is_limit({.planned_per_second = 100, .received_per_second = 80, .client_cpu_ratio = 0.5}));
  EXPECT_FALSE(server_is_limit(
      {.planned_per_second = 100, .received_per_second = 80, .client_cpu_ratio = 0.5, .client_run_queue_ratio = 0.45}));
}

TEST(ServerIsLimit, WhereItsOwnCpuIsBusy) {
  CeilingStep step{.planned_per_second = 100, .received_per_second = 80, .client_cpu_ratio = 0.93, .server_cpu_ratio = 0.98};
  EXPECT_TRUE(server_is_limit(step));
  step.received_per_second = 99;
  EXPECT_FALSE(server_is_limit(step));  // it wrote what was planned: the client has no room
}

OwnLimit judged(double chunks_per_second, std::optional<double> offered, std::optional<double> ceiling) {
  Load load;
  load.chunks_per_second = chunks_per_second;
  load.offered_tokens_per_second = offered;
  load.rates.requests_per_second = 10;
  OwnLimit limit;
  judge_ceiling(load, ceiling, limit);
  return limit;
}
TEST(Ceiling, SaysThatALoadIsAboveIt) {
  const OwnLimit limit = judged(200, {}, 100);
  EXPECT_TRUE(limit.limited);
  EXPECT_NEAR(limit.vouched_per_second.value(), 3.5, 1e-9);
}
TEST(Ceiling, OpenLoopCountsByItsSchedule) { EXPECT_TRUE(judged(80, 120, 100).limited); }
TEST(Ceiling, NothingBelowIt) { EXPECT_FALSE(judged(70, 90, 100).limited); }
TEST(Ceiling, NothingWithoutOne) { EXPECT_FALSE(judged(1e9, {}, {}).limited); }

}  // namespace
}  // namespace aaco::analytics::llm
