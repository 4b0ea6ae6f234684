#include "analytics/llm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/llm/load_rows_testing.h"

namespace aaco::analytics::llm {
namespace {

TEST(Times, CountFromTheSchedule) {
  Rows rows;
  const RequestTimes times = times_of(rows.add(0, 100, 150, 10, 5));
  EXPECT_EQ(times.ttft_ns, 150.0 * kMs);
  EXPECT_EQ(times.ttft_sent_ns, 50.0 * kMs);
  EXPECT_EQ(times.client_queue_ns, 100.0 * kMs);
  EXPECT_EQ(times.e2el_ns, 190.0 * kMs);
  EXPECT_EQ(times.tpot_ns, 10.0 * kMs);
}
// What lies before the last send is the failed attempt and the server's Retry-After.
TEST(Times, RequestsThatWereSentAgainHaveNoClientQueue) {
  Rows rows;
  auto row = rows.add(0, 100, 150, 10, 5);
  row.retries = 1;
  EXPECT_FALSE(times_of(row).client_queue_ns);
  row.retries = 0;
  row.reconnects = 1;
  EXPECT_FALSE(times_of(row).client_queue_ns);
  EXPECT_EQ(times_of(row).ttft_ns, 150.0 * kMs);
}
TEST(Times, OneTokenHasNoTimePerOutputToken) {
  Rows rows;
  EXPECT_FALSE(times_of(rows.add(0, 0, 5, 1, 1)).tpot_ns);
}
TEST(Times, UnknownTokensHaveNoTimePerOutputToken) {
  Rows rows;
  auto row = rows.add(0, 0, 5, 1, 10);
  row.output_tokens.reset();
  EXPECT_FALSE(times_of(row).tpot_ns);
}
TEST(Times, NothingSentHasNoTimes) {
  const RequestTimes times = times_of({});
  EXPECT_FALSE(times.ttft_ns || times.client_queue_ns || times.e2el_sent_ns);
}

// One at a time, 50 ms each, 100 a second: request i waits 50 (i + 1) - 10 i ms.
TEST(LoadFigures, CoordinatedOmissionIsSeen) {
  Rows rows;
  for (std::int64_t i = 0; i < 400; ++i) rows.add(10 * i, 50 * i, 50 * i + 50, 1, 1);
  const Load load = rows.load();
  EXPECT_NEAR(load.e2el.p99->value, (50 + 40 * 0.99 * 399) * kMs, 1.0 * kMs);
  EXPECT_NEAR(load.e2el_sent.p99->value, 50.0 * kMs, 0.1 * kMs);
}
// Eight requests of 500 ms, ten a second, one at a time: the last one is due at 0.7 s and ends at 4 s.
TEST(LoadFigures, FewRequestsHaveNoP99) {
  Rows rows;
  for (std::int64_t i = 0; i < 8; ++i) rows.add(100 * i, 500 * i, 500 * i + 500, 1, 1);
  const Load load = rows.load();
  EXPECT_EQ(load.e2el.maximum, 3300.0 * kMs);
  EXPECT_FALSE(load.e2el.p99);
}
TEST(LoadFigures, FailuresAreCountedByKind) {
  Rows rows;
  rows.add(0, 0, 5, 1, 3);
  rows.fail(1, "timeout");
  rows.fail(2, "timeout");
  rows.fail(3, "http_429");
  const Load load = rows.load();
  EXPECT_EQ(load.failures, (std::map<std::string, std::int64_t>{{"timeout", 2}, {"http_429", 1}}));
  EXPECT_EQ(load.availability_ratio, 0.25);
  EXPECT_EQ(load.examples.at("timeout"), "why");
}
// 4 s of 5 requests/s before 6 s of 10 requests/s.
TEST(LoadFigures, ThroughputIsOfTheTimeAfterTheRamp) {
  Rows rows;
  for (std::int64_t i = 0; i < 20; ++i) rows.add(200 * i, 200 * i, 200 * i + 20, 1, 1);
  for (std::int64_t i = 0; i < 60; ++i) rows.add(4000 + 100 * i, 4000 + 100 * i, 4020 + 100 * i, 1, 1);
  const Load load = rows.load({}, 4000 * kMs);
  EXPECT_EQ(load.in_ramp, 20);
  ASSERT_TRUE(load.steady);
  EXPECT_NEAR(load.steady->requests_per_second, 10, 0.1);
  EXPECT_NEAR(load.offered_per_second, 10, 0.2);
  EXPECT_NEAR(rows.load().offered_per_second, 8, 0.1);
  EXPECT_FALSE(rows.load({}, 9000 * kMs).steady);  // too little is left
}
TEST(LoadFigures, CancelledRequestsAreNoFailures) {
  Rows rows;
  rows.add(0, 0, 5, 1, 3);
  rows.fail(1, "cancelled");
  const Load load = rows.load();
  EXPECT_EQ(load.requests, 1);
  EXPECT_EQ(load.cancelled, 1);
  EXPECT_EQ(load.availability_ratio, 1);
  EXPECT_TRUE(load.failures.empty());
}
TEST(LoadFigures, FailuresAreNotGood) {
  Rows rows;
  rows.add(0, 0, 5, 1, 3);
  rows.fail(1, "timeout");
  EXPECT_EQ(rows.load(parse_slo("ttft=1s").value()).good_ratio, 0.5);
}
TEST(LoadFigures, GoodputNeedsEveryLimit) {
  Rows rows;
  rows.add(0, 0, 100, 10, 5);  // both kept
  rows.add(0, 0, 300, 10, 5);  // first token late
  rows.add(0, 0, 100, 80, 5);  // tokens slow
  EXPECT_NEAR(*rows.load(parse_slo("ttft=200ms,tpot=50ms").value()).good_ratio, 1.0 / 3, 1e-9);
}
TEST(LoadFigures, OneTokenKeepsLimitsOnGaps) {
  Rows rows;
  rows.add(0, 0, 100, 10, 1);
  EXPECT_EQ(rows.load(parse_slo("tpot=1ms,itl=1ms").value()).good_ratio, 1.0);
}
TEST(LoadFigures, NoSloNoGoodput) {
  Rows rows;
  rows.add(0, 0, 100, 10, 1);
  EXPECT_FALSE(rows.load().goodput_per_second);
}
TEST(LoadFigures, ChunksAreNotTokens) {
  Rows rows;
  rows.add(0, 0, 10, 30, 4).output_tokens = 12;
  const Load load = rows.load();
  EXPECT_EQ(load.tokens_per_chunk, 3.0);
  EXPECT_FALSE(load.itl_known);
  EXPECT_EQ(load.inter_chunk.mean, 30.0 * kMs);
  EXPECT_NEAR(*load.tpot.mean, 90.0 * kMs / 11, 1);
}
TEST(LoadFigures, ContinuousUsageGivesEachTokenItsShare) {
  Rows rows;
  rows.add(0, 0, 10, 30, 4).output_tokens = 12;
  for (auto& chunk : rows.chunks) chunk.tokens = 3;
  const Load load = rows.load();
  EXPECT_TRUE(load.itl_known);
  EXPECT_EQ(load.itl.mean, 10.0 * kMs);
  EXPECT_EQ(load.itl.count, 9);
}
// Usage in every second chunk, which counts the tokens of two.
TEST(LoadFigures, UsageInSomeChunksDoesNotShareTheirGaps) {
  Rows rows;
  rows.add(0, 0, 10, 4, 10);
  for (std::size_t i = 0; i < rows.chunks.size(); i += 2) rows.chunks[i].tokens = i == 0 ? 1 : 2;
  const Load load = rows.load();
  EXPECT_TRUE(load.itl_known);
  EXPECT_EQ(load.itl.count, 9);
  EXPECT_EQ(load.itl.p50->value, 4.0 * kMs);
}
TEST(LoadFigures, ResponsesInOnePieceHaveNoTimePerToken) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.add(20 * i, 20 * i, 20 * i + 100, 0, 8);
  const Load load = rows.load();
  EXPECT_TRUE(is_buffered(load));
  EXPECT_FALSE(load.tpot.p50 || load.itl_known);
  EXPECT_EQ(sentence_of(load, {}).find("TPOT"), std::string::npos);
}
TEST(LoadFigures, AFewResponsesInOnePieceAreNotBuffered) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.add(20 * i, 20 * i, 20 * i + 100, i < 4 ? 0 : 5, 8);
  EXPECT_FALSE(is_buffered(rows.load()));
  EXPECT_EQ(rows.load().tpot.p50->value, 5.0 * kMs);
}
// Half of them: their median time per token would be 0.
TEST(LoadFigures, ATimePerTokenIsNeverZero) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.add(20 * i, 20 * i, 20 * i + 100, i < 6 ? 0 : 5, 8);
  EXPECT_FALSE(rows.load().tpot.p50);
}
TEST(LoadFigures, OneChunkEachIsNotBuffered) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.add(20 * i, 20 * i, 20 * i + 100, 0, 1);
  EXPECT_FALSE(is_buffered(rows.load()));
}
TEST(LoadFigures, OneChunkHasNoTimePerOutputToken) {
  Rows rows;
  rows.add(0, 0, 10, 30, 1).output_tokens = 4;
  EXPECT_FALSE(rows.load().tpot.mean);
}
TEST(LoadFigures, LittlesLawHolds) {
  Rows rows;
  for (std::int64_t i = 0; i < 100; ++i) rows.add(10 * i, 10 * i, 10 * i + 40, 1, 1);
  const Load load = rows.load();
  EXPECT_NEAR(*load.little_open, load.mean_open, 0.001 * load.mean_open);
}
TEST(LoadFigures, SteadyStateExcludesRampAndDrain) {
  Rows rows;
  for (std::int64_t i = 0; i < 100; ++i) rows.add(10 * i, 10 * i, 10 * i + 200, 1, 1);
  const Load load = rows.load();
  ASSERT_TRUE(load.steady_s);
  EXPECT_NEAR(*load.steady_s, 0.79, 1e-9);
  EXPECT_NEAR(load.steady->requests_per_second, 100, 2);
  EXPECT_LT(load.rates.requests_per_second, 90);
}
// One at a time, 500 ms each: two per second and no more.
TEST(LoadFigures, RateIsWhatOneAtATimeCanReach) {
  Rows rows;
  for (std::int64_t i = 0; i < 4; ++i) rows.add(500 * i, 500 * i, 500 * (i + 1), 1, 1);
  const Load load = rows.load();
  ASSERT_TRUE(load.steady);
  EXPECT_NEAR(load.steady->requests_per_second, 2, 1e-9);
}
// Four in step, whose ends come in bursts.
TEST(LoadFigures, BurstsAtTheEdgesDoNotRaiseTheRate) {
  Rows rows;
  for (std::int64_t i = 0; i < 10; ++i)
    for (std::int64_t slot = 0; slot < 4; ++slot) rows.add(50 * i + slot, 50 * i + slot, 50 * (i + 1) + slot, 1, 1);
  const Load load = rows.load();
  ASSERT_TRUE(load.steady);
  EXPECT_NEAR(load.steady->requests_per_second, 80, 0.5);
}
TEST(LoadFigures, SentenceLeavesOutAnUnboundedTail) {
  Rows rows;
  for (std::int64_t i = 0; i < 120; ++i) rows.add(10 * i, 10 * i, 10 * i + 40 + i % 7, 1, 1);
  const Load load = rows.load();
  ASSERT_TRUE(load.ttft.p99 && !load.ttft.p99->ci95);
  EXPECT_NE(sentence_of(load, {}).find("TTFT median"), std::string::npos) << sentence_of(load, {});
}
TEST(LoadFigures, CancelledRequestsSayNothingOfAvailability) {
  Rows rows;
  rows.fail(0, "cancelled");
  for (const auto& metric : metrics_of(rows.load(), {})) EXPECT_NE(metric.id, "llm.availability_ratio");
}
TEST(LoadFigures, ShortLoadHasNoSteadyState) {
  Rows rows;
  rows.add(0, 0, 100, 1, 1);
  EXPECT_FALSE(rows.load().steady);
}
TEST(LoadFigures, NothingIsEmpty) { EXPECT_EQ(Rows().load().requests, 0); }
TEST(LoadFigures, WarmupIsLeftOut) {
  Rows rows;
  rows.add(0, 0, 5, 1, 3).phase = rows.names.intern("warmup");
  EXPECT_TRUE(measure_loads(rows.requests, rows.chunks, rows.names, {}).empty());
}
TEST(LoadFigures, LevelsAreSeparate) {
  Rows rows;
  rows.add(0, 0, 5, 1, 3);
  rows.add(10, 10, 15, 1, 3).load = rows.names.intern("rate 2/s");
  const auto loads = measure_loads(rows.requests, rows.chunks, rows.names, {});
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[1].name, "rate 2/s");
  EXPECT_EQ(loads[1].inter_chunk.count, 2);
}

TEST(SloText, Parse) {
  EXPECT_EQ(parse_slo("ttft=200ms, tpot=50ms").value(),
            (Slo{.ttft_ns = 200 * kMs, .tpot_ns = 50 * kMs, .itl_ns = {}, .e2el_ns = {}}));
  EXPECT_EQ(to_string(parse_slo("ttft=200ms").value()), "TTFT <= 200 ms");
}
TEST(SloText, Refusals) {
  for (const char* text : {"", "ttft", "ttft=", "ttft=x", "ttft=0", "ttft=-1s", "latency=1s", "ttft=1s,ttft=2s", "ttft=1s,"})
    EXPECT_FALSE(parse_slo(text)) << text;
}
TEST(SloText, ANumberNeedsItsUnit) {
  const auto slo = parse_slo("ttft=200");
  ASSERT_FALSE(slo);
  EXPECT_EQ(slo.error().message, "invalid SLO 'ttft=200': missing unit");
  EXPECT_EQ(slo.error().remedy, "write ttft=200ms or ttft=200s");
  EXPECT_FALSE(parse_slo("ttft=200ms,tpot=0.5"));
}
TEST(Metrics, SharesHaveAnInterval) {
  Rows rows;
  for (int i = 0; i < 9; ++i) rows.add(i, i, i + 5, 1, 3);
  rows.fail(9, "timeout");
  for (const auto& metric : metrics_of(rows.load(), {}))
    if (metric.id == "llm.availability_ratio") {
      ASSERT_TRUE(metric.ci95);
      EXPECT_NEAR(metric.ci95->low, 0.555, 1e-3);
      EXPECT_NEAR(metric.ci95->high, 0.9975, 1e-4);
    }
}

TEST(Metrics, UnmeasuredIsLeftOut) {
  Rows rows;
  rows.add(0, 0, 5, 1, 1);
  const auto metrics = metrics_of(rows.load(), {});
  EXPECT_EQ(find_metric(metrics, "llm.tpot_p50_ns"), nullptr);
  EXPECT_EQ(find_metric(metrics, "llm.goodput_per_second"), nullptr);
  EXPECT_NE(find_metric(metrics, "llm.ttft_mean_ns"), nullptr);
}
TEST(Sentence, SaysThatAllWereCancelled) {
  Rows rows;
  rows.fail(0, "cancelled");
  EXPECT_EQ(sentence_of(rows.load(), {}), "all 1 requests were cancelled");
}
TEST(Sentence, SaysTheRateThatWasDueWhereItWasNotReached) {
  Rows rows;
  for (int i = 0; i < 100; ++i) rows.add(10 * i, 10 * i, 20 * i + 20, 1, 1);  // 100/s due, 50/s served
  EXPECT_NE(sentence_of(rows.load(), {}).find(" requests/s of 100 due"), std::string::npos) << sentence_of(rows.load(), {});
}
TEST(Sentence, SaysThatAllFailed) {
  Rows rows;
  rows.fail(0, "timeout");
  EXPECT_EQ(sentence_of(rows.load(), {}), "all 1 requests failed");
}

// Four slots of 100 ms, each of 240 requests served as soon as one is free: 40/s, whatever the rate of the arrivals beyond it.
TEST(Load, ThroughputBeyondTheCapacityIsTheCapacity) {
  for (const double per_second : {44.0, 60.0, 80.0}) {
    Rows rows;
    std::array<double, 4> free_ms{};
    for (int i = 0; i < 240; ++i) {
      const double due_ms = i * 1000 / per_second;
      double& slot = *std::min_element(free_ms.begin(), free_ms.end());
      slot = std::max(slot, due_ms) + 100;
      trace::LlmRequestRow& row = rows.add(0, 0, 0, 0, 1);
      row.scheduled_ns = std::llround(due_ms * 1e6);
      row.sent_ns = row.scheduled_ns;
      row.end_ns = std::llround(slot * 1e6);
      row.first_token_ns = row.end_ns;
      row.last_token_ns = row.end_ns;
    }
    const Load load = rows.load();
    ASSERT_TRUE(load.steady) << per_second;
    EXPECT_NEAR(load.steady->requests_per_second, 40, 0.2) << per_second;
  }
}
TEST(Sentence, NoRequest) { EXPECT_EQ(sentence_of({}, {}), "no request was sent"); }

}  // namespace
}  // namespace aaco::analytics::llm
