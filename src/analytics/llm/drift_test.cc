#include "analytics/llm/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analytics/llm.h"

namespace aaco::analytics::llm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;

// Complete answers of five tokens.
struct Answers {
  trace::NameTable names;
  std::vector<trace::LlmRequestRow> requests;

  void add(std::int64_t due_ms, std::int64_t sent_ms, std::int64_t first_ms, std::int64_t token_ms) {
    trace::LlmRequestRow row{.request = static_cast<std::int64_t>(requests.size()), .phase = names.intern("measure")};
    row.load = names.intern("rate 1/s");
    row.scheduled_ns = due_ms * kMs;
    row.sent_ns = sent_ms * kMs;
    row.first_token_ns = first_ms * kMs;
    row.last_token_ns = row.end_ns = (first_ms + 4 * token_ms) * kMs;
    row.outcome = names.intern("ok");
    row.output_tokens = row.content_chunks = 5;
    requests.push_back(row);
  }
  [[nodiscard]] std::vector<std::string> drifts() const { return drifts_of(requests, names); }
};

TEST(Drift, SlowerTokensInTheSecondHalf) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(100 * i, 100 * i, 100 * i + 20 + i % 3, i < 50 ? 3 : 12);
  EXPECT_THAT(answers.drifts(), ElementsAre("the TPOT rose from about 3.00 ms to about 12.0 ms, 5.00 s into the load"));
}
TEST(Drift, AGrowingQueue) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(10 * i, 10 * i, 40 * (i + 1), 1);
  ASSERT_EQ(answers.drifts().size(), 1U);
}
TEST(Drift, FasterAnswersAreADriftToo) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(100 * i, 100 * i, 100 * i + (i < 50 ? 60 : 20), 3);
  EXPECT_THAT(answers.drifts(), ElementsAre("the TTFT fell from about 60.0 ms to about 20.0 ms, 5.00 s into the load"));
}
// Each request a little later than the one before: a leak, a growing cache. The halves alone differ by less than 1.5 times.
TEST(Drift, ASteadyRise) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(1000 * i, 1000 * i, 1000 * i + 300 + 2 * i + 9 * (i % 5), 3);
  ASSERT_EQ(answers.drifts().size(), 1U);
  EXPECT_THAT(answers.drifts().front(), testing::StartsWith("the TTFT rose steadily, from about 3"));
}
TEST(Drift, ASteadyRiseOfManyRequests) {
  Answers answers;
  for (std::int64_t i = 0; i < 20000; ++i) answers.add(1000 * i, 1000 * i, 1000 * i + 300 + i / 100 + 40 * (i % 5), 3);
  ASSERT_EQ(answers.drifts().size(), 1U);
}
TEST(Drift, ASteadyFallOfTheTokens) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(1000 * i, 1000 * i, 1000 * i + 20, 40 - i / 10);
  EXPECT_THAT(answers.drifts(), ElementsAre(testing::StartsWith("the TPOT fell steadily")));
}
// Flat until 14 s, and then a queue that grows until the last request.
TEST(Drift, ARiseThatBeginsLate) {
  Answers answers;
  for (std::int64_t i = 0; i < 200; ++i) answers.add(100 * i, 100 * i, 100 * i + 40 + (i > 140 ? 20 * (i - 140) : 0), 3);
  EXPECT_THAT(answers.drifts(),
              ElementsAre(testing::MatchesRegex(
                  "the TTFT was about 40.* ms until 1[34].* s into the load, and then rose to about 1.2. s at .*")));
}
// The first wave of a closed loop meets an empty server, and the last answers an empty batch.
TEST(Drift, FirstWaveAndDrainAreNoTrend) {
  Answers answers;
  for (std::int64_t i = 0; i < 40; ++i) answers.add(0, 0, 20, 10);
  for (std::int64_t i = 0; i < 50; ++i) answers.add(100 + 10 * i, 100 + 10 * i, 180 + 10 * i, i < 5 ? 10 : 150 - i);
  for (auto& row : answers.requests) row.load = answers.names.intern("concurrency 40");
  EXPECT_THAT(answers.drifts(), IsEmpty());
}
TEST(Drift, ASmallSteadyRiseHasNone) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(1000 * i, 1000 * i, 1000 * i + 300 + i / 2, 3);
  EXPECT_THAT(answers.drifts(), IsEmpty());
}
TEST(Drift, WavesAreNoSteadyRise) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(1000 * i, 1000 * i, 1000 * i + 300 + 40 * (i / 5 % 4), 3);
  EXPECT_THAT(answers.drifts(), IsEmpty());
}
TEST(Drift, SteadyLoadHasNone) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(100 * i, 100 * i, 100 * i + 20 + i % 7, 3);
  EXPECT_THAT(answers.drifts(), IsEmpty());
}
TEST(Drift, LessThanAMillisecondDoesNotCount) {
  Answers answers;
  for (std::int64_t i = 0; i < 100; ++i) answers.add(100 * i, 100 * i, 100 * i + (i < 50 ? 1 : 2), 0);
  EXPECT_THAT(answers.drifts(), IsEmpty());
}
TEST(Drift, FewRequestsYieldNoDrift) {
  Answers answers;
  for (std::int64_t i = 0; i < 30; ++i) answers.add(100 * i, 100 * i, 100 * i + (i < 15 ? 20 : 90), 3);
  EXPECT_THAT(answers.drifts(), IsEmpty());
}

TEST(Backlog, IsSaidWhereMoreIsDueThanEnds) {
  Answers answers;
  for (std::int64_t i = 0; i < 200; ++i) answers.add(25 * i, 25 * i, 50 * i + 46, 1);
  EXPECT_THAT(backlog_of(answers.requests, answers.names),
              testing::StartsWith("40.2 requests/s were due in its second half and 20.1 ended"));
  for (auto& row : answers.requests) row.load = answers.names.intern("concurrency 8");
  EXPECT_EQ(backlog_of(answers.requests, answers.names), "") << "a closed loop has none";
}
TEST(Backlog, AServerThatKeepsUpHasNone) {
  Answers answers;
  for (std::int64_t i = 0; i < 200; ++i) answers.add(25 * i, 25 * i, 25 * i + 400 + 37 * (i % 11), 1);
  EXPECT_EQ(backlog_of(answers.requests, answers.names), "");
}

std::string groups(const std::vector<std::int64_t>& token_ms) {
  Answers answers;
  for (std::size_t i = 0; i < token_ms.size(); ++i)
    answers.add(100 * static_cast<std::int64_t>(i), 100 * static_cast<std::int64_t>(i), 100 * static_cast<std::int64_t>(i) + 20,
                token_ms[i]);
  return groups_of(answers.requests, answers.names);
}
TEST(Groups, TwoReplicasOfDifferentSpeed) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < 30; ++i) times.insert(times.end(), {11 + i % 2, 31 + i % 8});
  EXPECT_EQ(groups(times),
            "two groups of requests by TPOT: 30 of 60 requests 11.0 ms to 12.0 ms, 30 of 60 requests 31.0 ms to 37.1 "
            "ms, and none between");
}
TEST(Groups, OneGroupWithATailDoesNotCount) {
  std::vector<std::int64_t> times(60, 11);
  for (int i = 0; i < 9; ++i) times[static_cast<std::size_t>(6 * i)] = 40;
  EXPECT_EQ(groups(times), "");
}
TEST(Groups, ABroadSpreadDoesNotCount) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < 60; ++i) times.push_back(10 + i);
  EXPECT_EQ(groups(times), "");
}
TEST(Groups, FewRequestsAreNone) { EXPECT_EQ(groups({10, 10, 10, 10, 40, 40, 40, 40}), ""); }

// One slot, 50 ms each, one due each 25 ms: 20 per second, however long the others wait, in the client or at the server.
TEST(Backlog, WaitingRequestsDoNotRaiseTheRate) {
  for (const bool at_the_server : {false, true}) {
    Answers answers;
    for (std::int64_t i = 0; i < 200; ++i) answers.add(25 * i, at_the_server ? 25 * i : 50 * i, 50 * i + 46, 1);
    const Load load = measure_load(answers.requests, {}, answers.names, parse_slo("ttft=1s").value());
    ASSERT_TRUE(load.steady);
    EXPECT_NEAR(load.steady->requests_per_second, 20, at_the_server ? 1 : 0.3);
    EXPECT_NEAR(load.rates.requests_per_second, 20, 0.1);
    EXPECT_LE(*load.goodput_per_second, load.steady->requests_per_second);
  }
}

}  // namespace
}  // namespace aaco::analytics::llm
