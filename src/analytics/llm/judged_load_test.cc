#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analytics/llm.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// A level with this throughput, mean of open requests and TTFT of every request.
Load load_of(double per_second, double open, double ttft_ms) {
  Load load{.name = "x", .requests = 100, .complete = 100};
  load.rates.requests_per_second = per_second;
  load.mean_open = open;
  load.availability_ratio = 1;
  load.ttft = stats::summarize(std::vector<double>(300, ttft_ms * kMs));
  load.e2el = stats::summarize(std::vector<double>(300, (ttft_ms + 100) * kMs));
  return load;
}
TEST(Curve, KneeIsWhereThroughputStops) {
  const std::vector<Load> loads = {load_of(10, 1, 10), load_of(20, 2, 10), load_of(39, 4, 10), load_of(40, 8, 100),
                                   load_of(40, 16, 300)};
  EXPECT_EQ(judge_curve(loads, {}).knee, 2U);
  EXPECT_EQ(judge_curve(loads, parse_slo("ttft=150ms").value()).last_within_slo, 3U);
}
// One core shared by up to four answers: throughput is flat from the start, and the first token waits from eight on.
TEST(Curve, KneeOfASharedProcessorIsWhereRequestsQueue) {
  const std::vector<Load> loads = {load_of(3.8, 1, 88), load_of(4.7, 2, 102), load_of(5.3, 4, 168), load_of(5.9, 8, 1200)};
  const Curve curve = judge_curve(loads, {});
  EXPECT_TRUE(curve.queues);
  EXPECT_EQ(curve.knee, 2U);
  EXPECT_EQ(curve.flat_steps, 3U);
}
// The same with a throughput that does not grow at all: nobody waits until the slots are taken.
TEST(Curve, KneeOfASharedProcessorWithoutGain) {
  const std::vector<Load> loads = {load_of(9.9, 1, 2), load_of(10, 2, 17), load_of(9.9, 4, 20), load_of(10, 8, 141)};
  EXPECT_EQ(judge_curve(loads, {}).knee, 2U);
}
// Three slots: at concurrency 4 a third of the requests wait, which the median does not show, and nothing is gained.
TEST(Curve, KneeIsTheFirstLevelWithTheHighestThroughput) {
  std::vector<Load> loads = {load_of(6.6, 1, 10),  load_of(13.1, 2, 10), load_of(19.7, 3, 10),
                             load_of(19.7, 4, 12), load_of(19.8, 5, 90), load_of(19.7, 6, 150)};
  std::vector<double> times(300, 12 * kMs);
  std::fill(times.begin(), times.begin() + 90, 156 * kMs);
  loads[3].ttft = stats::summarize(times);
  loads[3].ttft_values = times;
  const Curve curve = judge_curve(loads, {});
  EXPECT_TRUE(curve.queues);
  EXPECT_EQ(curve.knee, 2U);
}
TEST(Curve, TtftGrowingWithTheLoadIsNotAQueue) {
  const Curve curve = judge_curve(std::vector<Load>{load_of(10, 1, 10), load_of(20, 2, 20), load_of(20.5, 4, 45)}, {});
  EXPECT_FALSE(curve.queues);
  EXPECT_EQ(curve.knee, 1U);
}
TEST(Curve, OpenLoopBeyondCapacityQueues) {
  std::vector<Load> loads = {load_of(10, 1, 10), load_of(20, 2, 11), load_of(22, 60, 800)};
  const double rates[] = {10, 20, 40};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    loads[i].name = "rate x/s";
    loads[i].offered_per_second = rates[i];
  }
  const Curve curve = judge_curve(loads, {});
  EXPECT_TRUE(curve.queues);
  EXPECT_EQ(curve.knee, 1U);
}
TEST(Curve, OneLevelHasNoKnee) { EXPECT_FALSE(judge_curve(std::vector<Load>{load_of(10, 1, 10)}, {}).knee); }
TEST(Curve, NoKneeWhileItGrows) {
  const std::vector<Load> loads = {load_of(10, 1, 10), load_of(20, 2, 10)};
  EXPECT_FALSE(judge_curve(loads, {}).knee);
}
TEST(Curve, BrokenSloEverywhere) {
  EXPECT_FALSE(judge_curve(std::vector<Load>{load_of(10, 1, 500)}, parse_slo("ttft=150ms").value()).last_within_slo);
}
TEST(Curve, FailuresBreakTheSlo) {
  Load load = load_of(10, 1, 10);
  load.availability_ratio = 0.9;
  EXPECT_FALSE(keeps(load, parse_slo("ttft=1s").value()));
}

TEST(Client, IdleClientIsNotTheLimit) {
  EXPECT_FALSE(judge_client(load_of(10, 1, 10),
                            {.loop_lag_ns = std::vector<double>(100, 1e5), .cpu_ratio = {0.1}, .run_queue_ratio = {0.01}})
                   .limited);
}
TEST(Client, BusyThreadIsTheLimit) {
  const OwnLimit limit = judge_client(load_of(100, 1, 10), {.loop_lag_ns = {}, .cpu_ratio = {0.99}, .run_queue_ratio = {}});
  EXPECT_TRUE(limit.limited);
  EXPECT_NEAR(*limit.vouched_per_second, 100 * 0.7 / 0.99, 1e-9);
}
TEST(Client, AThreadThatWaitsLongerThanItRunsVouchesForNothing) {
  const OwnLimit limit = judge_client(load_of(100, 1, 10), {.loop_lag_ns = {}, .cpu_ratio = {0.01}, .run_queue_ratio = {1.04}});
  EXPECT_TRUE(limit.saturated);
  EXPECT_FALSE(limit.vouched_per_second);
}
TEST(Client, VerdictOfALateClientDiffersFromThatOfABusyOne) {
  OwnState state{.loop_lag_ns = std::vector<double>(100, 3e6), .cpu_ratio = {0.06}, .run_queue_ratio = {0.13}};
  const OwnLimit late = judge_client(load_of(10, 1, 10), state);
  EXPECT_TRUE(late.limited && !late.saturated);
  EXPECT_EQ(verdict_of(late), "the client's own delay may have moved results");
  state.cpu_ratio = {0.95};
  EXPECT_EQ(verdict_of(judge_client(load_of(10, 1, 10), state)), "the client was the bottleneck");
}
TEST(Client, RampAndDrainDoNotHideABusyThread) {
  OwnState state{.loop_lag_ns = {}, .cpu_ratio = std::vector<double>(100, 0.98), .run_queue_ratio = {}};
  for (std::size_t i = 0; i < 20; ++i) state.cpu_ratio[i] = 0.2;
  EXPECT_TRUE(judge_client(load_of(100, 1, 10), state).limited);
}
TEST(Client, RareBusyTimesAreNotTheLimit) {
  OwnState state{.loop_lag_ns = {}, .cpu_ratio = std::vector<double>(100, 0.4), .run_queue_ratio = {}};
  for (std::size_t i = 0; i < 40; ++i) state.cpu_ratio[i] = 0.99;
  EXPECT_FALSE(judge_client(load_of(100, 1, 10), state).limited);
}
TEST(Client, WaitingForACpuIsTheLimit) {
  EXPECT_TRUE(judge_client(load_of(100, 1, 10), {.loop_lag_ns = {}, .cpu_ratio = {0.5}, .run_queue_ratio = {0.48}}).limited);
}
TEST(Client, WaitingLongerThanRunningIsTheLimitWhereItDelaysFirstTokens) {
  const OwnLimit limit = judge_client(
      load_of(10, 1, 10), {.loop_lag_ns = std::vector<double>(100, 3e6), .cpu_ratio = {0.06}, .run_queue_ratio = {0.13}});
  ASSERT_TRUE(limit.limited);
  EXPECT_NE(limit.reasons.front().find("waited for a CPU 13.0 % of the time"), std::string::npos) << limit.reasons.front();
  EXPECT_NE(limit.reasons.front().find("median TTFT"), std::string::npos) << limit.reasons.front();
}
// Gaps of 4 ms, and a tick in eight late by 3 ms.
Load load_of_short_gaps() {
  Load load = load_of(10, 1, 500);
  for (int i = 0; i < 2000; ++i) load.gap_values.push_back(4e6 + 100 * i);
  load.inter_chunk = stats::summarize(load.gap_values);
  return load;
}
OwnState late_ticks(double run_queue_ratio) {
  OwnState state{.loop_lag_ns = {}, .cpu_ratio = {0.02}, .run_queue_ratio = {run_queue_ratio}};
  for (int i = 0; i < 100; ++i) state.loop_lag_ns.push_back(i % 5 < 2 ? 3e6 : 5e4);
  return state;
}
TEST(Client, WaitingLongerThanRunningIsTheLimitWhereItDelaysChunks) {
  const OwnLimit limit = judge_client(load_of_short_gaps(), late_ticks(0.13));
  ASSERT_TRUE(limit.limited);
  EXPECT_NE(limit.reasons.front().find("P95 of the gaps"), std::string::npos) << limit.reasons.front();
}
TEST(Client, GapsOfAClientThatIsNotStarvedAreItsOwn) {
  EXPECT_FALSE(judge_client(load_of_short_gaps(), late_ticks(0.04)).limited);
}
// 6 % of the time waiting, 0.9 % running, beside 100 answers of 30 ms and gaps of 10 ms: nothing moves by 5 %, until the lag is
// longer.
TEST(Client, WaitingLongerThanRunningIsNotTheLimitWhereResultsStay) {
  Load load;
  load.complete = 100;
  for (int i = 0; i < 100; ++i) load.ttft_values.push_back((30 + 0.02 * i) * kMs);
  for (int i = 0; i < 2000; ++i) load.gap_values.push_back((9.9 + 0.0005 * i) * kMs);
  load.ttft = stats::summarize(load.ttft_values);
  load.inter_chunk = stats::summarize(load.gap_values);
  OwnState state{.loop_lag_ns = {}, .cpu_ratio = {0.009}, .run_queue_ratio = {0.06}};
  for (int i = 0; i < 100; ++i) state.loop_lag_ns.push_back(i % 10 == 0 ? 1.58e6 : 2e5);
  const OwnLimit limit = judge_client(load, state);
  EXPECT_FALSE(limit.limited) << limit.reasons.front();
  EXPECT_GT(*limit.loop_lag_p99_ns, 0.05 * load.ttft.p50->value);
  for (double& lag : state.loop_lag_ns) lag *= 2.5;
  const OwnLimit longer = judge_client(load, state);
  ASSERT_TRUE(longer.limited) << "the P99 of 100 answers moves by 3 of 32 ms";
  EXPECT_NE(longer.reasons.front().find("the TTFT P99"), std::string::npos) << longer.reasons.front();
}
TEST(Client, WaitsThatDelayNothingAreNotTheLimit) {
  EXPECT_FALSE(judge_client(load_of(10, 1, 5000),
                            {.loop_lag_ns = std::vector<double>(100, 18e6), .cpu_ratio = {0.02}, .run_queue_ratio = {0.2}})
                   .limited);
}
TEST(Client, ShortWaitsAreNotTheLimit) {
  EXPECT_FALSE(judge_client(load_of(10, 1, 10), {.loop_lag_ns = {}, .cpu_ratio = {0.01}, .run_queue_ratio = {0.03}}).limited);
}
TEST(Client, LagBeyondTheIntervalIsTheLimit) {
  EXPECT_TRUE(
      judge_client(load_of(10, 1, 10), {.loop_lag_ns = std::vector<double>(100, 20e6), .cpu_ratio = {0.1}, .run_queue_ratio = {}})
          .limited);
}
TEST(Client, LagOfASlowAnswerIsNotTheLimit) {
  EXPECT_FALSE(judge_client(load_of(10, 1, 5000),
                            {.loop_lag_ns = std::vector<double>(100, 20e6), .cpu_ratio = {0.1}, .run_queue_ratio = {}})
                   .limited);
}
// Answers that scatter between 10 and 20 ms, and a client that is 2 ms late once in twenty ticks: the P99 moves by about the mean
// lag.
TEST(Client, RareLagBesideScatteringAnswersIsNotTheLimit) {
  Load load;
  for (int i = 0; i < 1000; ++i) load.ttft_values.push_back((10 + 0.01 * i) * kMs);
  load.ttft = stats::summarize(load.ttft_values);
  OwnState state;
  for (int i = 0; i < 100; ++i) state.loop_lag_ns.push_back(i % 5 == 0 ? 2e6 : 5e4);
  EXPECT_FALSE(judge_client(load, state).limited);
  EXPECT_NEAR(*judge_client(load, state).loop_lag_p50_ns, 5e4, 1);
}
// The same lag beside answers of one length is their P99.
TEST(Client, RareLagBesideEqualAnswersIsTheLimit) {
  Load load;
  load.ttft_values.assign(1000, 10.0 * kMs);
  load.ttft = stats::summarize(load.ttft_values);
  OwnState state;
  for (int i = 0; i < 100; ++i) state.loop_lag_ns.push_back(i % 5 == 0 ? 2e6 : 5e4);
  EXPECT_TRUE(judge_client(load, state).limited);
}
// 240 requests, one each 25 ms, answered within 6 ms, and a client that stands still for 450 ms from 2 s on.
struct StalledLoad {
  std::vector<trace::LlmRequestRow> requests;
  trace::NameTable names;
  OwnState state;
  explicit StalledLoad(std::int64_t stall_ns, std::int64_t count = 240) {
    const std::int64_t from = 2'000 * kMs + 1, to = from + stall_ns;
    for (std::int64_t i = 0; i < count; ++i) {
      trace::LlmRequestRow row{.request = i, .phase = names.intern("measure"), .load = names.intern("rate 40/s")};
      row.scheduled_ns = 25 * kMs * i;
      row.sent_ns = row.scheduled_ns > from && row.scheduled_ns < to ? to : row.scheduled_ns;
      row.first_token_ns = *row.sent_ns + 6 * kMs + 10'000 * (i % 9);
      row.last_token_ns = row.end_ns = *row.first_token_ns + 10 * kMs;
      row.outcome = names.intern("ok");
      row.output_tokens = row.content_chunks = 2;
      requests.push_back(row);
    }
    state.loop_lag_ns.assign(300, 1e5);
    state.loop_lag_ns.push_back(static_cast<double>(stall_ns));
    state.cpu_ratio = {0.05};
    if (stall_ns >= kStallNs) state.stalls.push_back({from, to});
  }
  [[nodiscard]] OwnLimit judge() const { return judge_client(measure_load(requests, {}, names, {}), state); }
};
TEST(Client, OneLongStallMovedTheTail) {
  const OwnLimit limit = StalledLoad(450 * kMs).judge();
  ASSERT_TRUE(limit.limited);
  EXPECT_FALSE(limit.saturated);
  const std::string& reason = limit.reasons.front();
  EXPECT_NE(reason.find("the client stood still for 450 ms: 17 requests were sent up to 425 ms late"), std::string::npos)
      << reason;
  EXPECT_NE(reason.find("the TTFT P95"), std::string::npos) << reason;
  EXPECT_NE(reason.find("the E2EL P99"), std::string::npos) << reason;
  EXPECT_EQ(reason.find("median"), std::string::npos) << reason;
}
TEST(Client, AStallOfFewerRequestsThanTheTailHasIsNotTheLimit) {
  const OwnLimit limit = StalledLoad(30 * kMs, 2000).judge();
  EXPECT_FALSE(limit.limited) << limit.reasons.front();
}
// Requests that wait for --max-open are as late, and no stall is at that time.
TEST(Client, LateSendsWithoutAStallAreNotTheClients) {
  StalledLoad load(450 * kMs);
  for (OwnState::Stall& stall : load.state.stalls) stall = {stall.from_ns + 2'000 * kMs, stall.to_ns + 1'600 * kMs};
  EXPECT_FALSE(load.judge().limited);
}
// One response of 40 is read at the end of a stall of 300 ms: the mean time of the others is 10 ms.
TEST(Client, ResponsesReadAtTheEndOfAStallMovedTheTail) {
  trace::NameTable names;
  std::vector<trace::LlmRequestRow> requests;
  for (std::int64_t i = 0; i < 400; ++i) {
    trace::LlmRequestRow row{.request = i, .phase = names.intern("measure"), .load = names.intern("concurrency 1")};
    row.scheduled_ns = 400 * kMs * i;
    row.sent_ns = row.scheduled_ns;
    row.first_token_ns = row.scheduled_ns + (i % 40 == 0 ? 301 : 10) * kMs;
    row.last_token_ns = row.end_ns = *row.first_token_ns + 10 * kMs;
    row.outcome = names.intern("ok");
    row.output_tokens = row.content_chunks = 2;
    requests.push_back(row);
  }
  OwnState state{.loop_lag_ns = std::vector<double>(1000, 1e5), .cpu_ratio = {0.05}, .run_queue_ratio = {}};
  for (std::int64_t i = 0; i < 400; i += 40) state.stalls.push_back({400 * kMs * i + kMs, (400 * i + 301) * kMs});
  const OwnLimit limit = judge_client(measure_load(requests, {}, names, {}), state);
  ASSERT_TRUE(limit.limited);
  EXPECT_NE(limit.reasons.front().find("stood still 10 times, for up to 300 ms: 10 responses were read late"), std::string::npos)
      << limit.reasons.front();
}
TEST(Client, StallsTakeTimeOfAClosedLoop) {
  Load load = load_of(10, 1, 5000);
  load.name = "concurrency 1";
  load.duration_s = 5;
  const OwnState state{.loop_lag_ns = {}, .cpu_ratio = {0.05}, .run_queue_ratio = {}, .stalls = {{0, 600 * kMs}}};
  const OwnLimit limit = judge_client(load, state);
  ASSERT_TRUE(limit.limited);
  EXPECT_NE(limit.reasons.front().find("600 ms of the 5.00 s"), std::string::npos) << limit.reasons.front();
  load.name = "rate 10/s";
  EXPECT_FALSE(judge_client(load, state).limited);
}
TEST(Client, NoSamplesIsNotTheLimit) { EXPECT_FALSE(judge_client(load_of(10, 1, 10), {}).limited); }

Load load_of_gaps(std::size_t count, double gap_ms) {
  Load load;
  load.complete = 20;
  load.inter_chunk = stats::summarize(std::vector<double>(count, gap_ms * kMs));
  return load;
}
TEST(Client, LongEventsOfMostRequestsMovedTheMedian) {
  Load load = load_of(100, 1, 10);
  load.complete = 20;
  const std::vector<double> most(static_cast<std::size_t>(load.complete) * 3 / 4, 100e6);
  const OwnLimit limit = judge_client(load, {.loop_lag_ns = {}, .cpu_ratio = {0.1}, .run_queue_ratio = {}, .event_own_ns = most});
  ASSERT_TRUE(limit.limited);
  EXPECT_NE(limit.reasons.front().find("read and parse"), std::string::npos) << limit.reasons.front();
}
// 24 events of which pairs share a window: half of them would be too few for the median.
TEST(Client, EveryEventOfAWindowCounts) {
  trace::NameTable names;
  std::vector<trace::SystemEventRow> rows;
  for (int i = 0; i < 24; ++i) {
    trace::SystemEventRow row{.time_ns = i / 2, .metric = names.intern("client.gap_own_ns")};
    row.value = 60e6;
    rows.push_back(row);
  }
  const OwnLimit limit = judge_client(load_of_gaps(24, 100), own_state(rows, names, 0, 12));
  ASSERT_FALSE(limit.reasons.empty());
  EXPECT_EQ(limit.reasons.front(),
            "the client took 60.0 ms or longer to read and parse each of 13 events, which may have moved the median gap between "
            "chunks (100 ms) by as much");
}
// A reason says the greatest lag, which is never less than what it moved: the median tick is not late, every second sample is.
TEST(Client, WhatTheLagMovedIsAtMostTheLagThatIsSaid) {
  Load load;
  for (int i = 0; i < 24; ++i) load.ttft_values.push_back((10.0 + 0.5 * i) * kMs);
  load.ttft = stats::summarize(load.ttft_values);
  load.ttft.p50->ci95 = {};
  OwnState state;
  for (int i = 0; i < 100; ++i) state.loop_lag_ns.push_back(i % 2 == 0 ? 20e6 : 5e4);
  const OwnLimit limit = judge_client(load, state);
  ASSERT_TRUE(limit.limited);
  EXPECT_NE(limit.reasons.front().find("up to 20.0 ms late, which may have moved the median TTFT"), std::string::npos)
      << limit.reasons.front();
  EXPECT_LT(*limit.loop_lag_p50_ns, 100e3);
}
TEST(Client, OneLongEventDidNotMoveTheMedian) {
  Load load = load_of(100, 1, 10);
  load.complete = 20;
  load.ttft.p99.reset();
  EXPECT_FALSE(
      judge_client(load, {.loop_lag_ns = {}, .cpu_ratio = {0.1}, .run_queue_ratio = {}, .event_own_ns = {100e6}}).limited);
}

TEST(Client, LongEventsOfMostGapsMovedTheirMedian) {
  const OwnLimit limit = judge_client(load_of_gaps(20, 100), {.loop_lag_ns = {}, .gap_own_ns = std::vector<double>(15, 60e6)});
  ASSERT_TRUE(limit.limited);
  EXPECT_EQ(limit.event_own_max_ns, 60e6);
  EXPECT_NE(limit.reasons.front().find("median gap"), std::string::npos) << limit.reasons.front();
}
TEST(Client, LongEventsOfFewGapsMovedTheirP99Only) {
  const OwnLimit limit = judge_client(load_of_gaps(1000, 100), {.loop_lag_ns = {}, .gap_own_ns = std::vector<double>(15, 60e6)});
  ASSERT_EQ(limit.reasons.size(), 1U);
  EXPECT_NE(limit.reasons.front().find("P99 of the gaps"), std::string::npos) << limit.reasons.front();
}
TEST(Client, ShortEventsBesideLongGapsAreNotTheLimit) {
  EXPECT_FALSE(judge_client(load_of_gaps(20, 2000), {.loop_lag_ns = {}, .gap_own_ns = std::vector<double>(20, 60e6)}).limited);
}
TEST(Client, EventsFewerThanBeyondTheQuantileMoveNoGap) {
  EXPECT_FALSE(judge_client(load_of_gaps(2000, 100), {.loop_lag_ns = {}, .gap_own_ns = std::vector<double>(15, 60e6)}).limited);
}

}  // namespace
}  // namespace aaco::analytics::llm
