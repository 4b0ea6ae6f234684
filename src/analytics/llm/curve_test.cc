#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analytics/llm.h"

namespace aaco::analytics::llm {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double kMs = 1e6;

// A level of a closed loop: 100 requests with this TTFT, of which `waiting` wait 400 ms longer; answers take 100 ms.
Load level(std::int64_t concurrency, double tokens_per_second, double ttft_ms, std::size_t waiting = 0) {
  Load load{.name = "concurrency " + std::to_string(concurrency), .requests = 100, .complete = 100};
  load.rates.requests_per_second = tokens_per_second / 10;
  load.rates.output_tokens_per_second = tokens_per_second;
  load.mean_open = static_cast<double>(concurrency);
  std::vector<double> ttft(100, ttft_ms * kMs), e2el(100, (ttft_ms + 100) * kMs);
  for (std::size_t i = 0; i < waiting; ++i) ttft[99 - i] += 400 * kMs;
  load.ttft_values = ttft;
  load.ttft = stats::summarize(ttft);
  load.e2el = stats::summarize(e2el);
  load.tpot = stats::summarize(std::vector<double>(100, 10 * kMs));
  return load;
}
Load failing(Load load, std::int64_t failed) {
  load.complete -= failed;
  load.failures["http_429"] = failed;
  load.availability_ratio = 1 - static_cast<double>(failed) / 100;
  return load;
}
std::string told(const std::vector<Load>& loads, const std::vector<bool>& server = {}) {
  const Curve curve = judge_curve(loads, {}, server);
  return loads[level_that_counts(loads, curve)].name + curve_sentence(loads, curve, {});
}

TEST(Curve, LevelsThatFailAreNoKneeAndNoHeadline) {
  const std::vector<Load> loads = {level(1, 100, 10), level(2, 200, 10), failing(level(4, 290, 10), 77),
                                   failing(level(8, 200, 10), 78)};
  EXPECT_EQ(told(loads), "concurrency 2, the knee: beyond it 77 of 100 requests fail at concurrency 4 (http_429)");
}
TEST(Curve, WhereAllLevelsFailTheOneWithTheFewestFailuresCounts) {
  const std::vector<Load> loads = {failing(level(1, 100, 10), 40), failing(level(2, 300, 10), 90)};
  EXPECT_FALSE(judge_curve(loads, {}).knee);
  EXPECT_THAT(told(loads), StartsWith("concurrency 1"));
  EXPECT_THAT(sentence_of(loads[1], {}), StartsWith("90 of 100 requests failed; those that did not: 30 requests/s"));
}
TEST(Curve, AFewFailuresDoNotMatter) {
  const std::vector<Load> loads = {level(1, 100, 10), failing(level(2, 200, 10), 2)};
  EXPECT_EQ(told(loads), "concurrency 2; no knee up to concurrency 2");
  EXPECT_THAT(sentence_of(loads[1], {}), EndsWith("; 2 of 100 requests failed"));
}
// A sixth of the requests wait at 5 and nothing is gained from 4 to 5.
TEST(Curve, TheKneeIsBelowALevelAtWhichSomeWait) {
  const std::vector<Load> loads = {level(3, 270, 10), level(4, 360, 10), level(5, 360, 10, 16), level(8, 360, 350)};
  EXPECT_EQ(told(loads), "concurrency 4, the knee: beyond it requests queue");
}
TEST(Curve, WhereTheKneesOwnRequestsQueueTheSentenceSaysSo) {
  const std::vector<Load> loads = {level(4, 300, 10), level(6, 350, 10), level(8, 390, 10, 20), level(12, 391, 900)};
  EXPECT_EQ(told(loads), "concurrency 8, the knee: requests queue at it already, and longer beyond it");
}
TEST(Curve, TheServersOwnQueueCounts) {
  const std::vector<Load> loads = {level(4, 300, 10), level(6, 350, 10), level(8, 390, 10), level(12, 391, 900)};
  EXPECT_THAT(told(loads, {false, false, true, true}), HasSubstr("requests queue at it already"));
  EXPECT_THAT(told(loads, {false, false, false, true}), HasSubstr("beyond it requests queue"));
}
TEST(Curve, SaysHowMuchThroughputStillGrows) {
  EXPECT_THAT(told({level(8, 430, 10), level(16, 440, 20)}), EndsWith("beyond it throughput hardly grows"));
  EXPECT_THAT(told({level(8, 430, 10), level(16, 520, 20)}),
              EndsWith("beyond it throughput grows by only 20.9 % for 2 times the load"));
  EXPECT_THAT(told({level(8, 430, 10), level(16, 350, 20)}), EndsWith("beyond it throughput falls by 18.6 %"));
}
TEST(Curve, SaysThatStepsTakeLongerInALargerBatch) {
  std::vector<Load> loads = {level(16, 615, 50), level(32, 748, 80), level(64, 810, 104)};
  loads[2].tpot = stats::summarize(std::vector<double>(100, 72 * kMs));
  EXPECT_THAT(told(loads),
              HasSubstr(", and each step takes longer in a larger batch (TPOT 10.0 ms at it, 72.0 ms at concurrency 64)"));
}
TEST(Curve, AFlatStepStopsASweep) {
  EXPECT_TRUE(judge_curve(std::vector{level(4, 300, 10), level(5, 301, 10)}, {}).stopped_growing);
  EXPECT_FALSE(judge_curve(std::vector{level(4, 300, 10), level(5, 320, 10)}, {}).stopped_growing);
}

}  // namespace
}  // namespace aaco::analytics::llm
