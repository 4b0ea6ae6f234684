#include <gtest/gtest.h>

#include "analytics/llm.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Complete answers of three chunks, 10 ms apart.
struct Answers {
  trace::NameTable names;
  std::vector<trace::LlmRequestRow> requests;
  std::vector<trace::LlmChunkRow> chunks;

  trace::LlmRequestRow& add(std::optional<std::int64_t> tokens,
                            std::vector<std::optional<std::int64_t>> per_chunk = {{}, {}, {}}) {
    trace::LlmRequestRow row{.request = static_cast<std::int64_t>(requests.size()), .phase = names.intern("measure")};
    row.load = names.intern("concurrency 1");
    row.sent_ns = row.first_token_ns = kMs;
    row.last_token_ns = row.end_ns = 21 * kMs;
    row.outcome = names.intern("ok");
    row.output_tokens = tokens;
    row.content_chunks = 3;
    for (std::int64_t i = 0; i < 3; ++i) {
      trace::LlmChunkRow chunk{.request = row.request, .chunk = i, .time_ns = (1 + 10 * i) * kMs};
      chunk.kind = names.intern("content");
      chunk.tokens = per_chunk[static_cast<std::size_t>(i)];
      chunks.push_back(chunk);
    }
    requests.push_back(row);
    return requests.back();
  }
  [[nodiscard]] Load load() const { return measure_load(requests, chunks, names, {}); }
};

TEST(TokenCounts, OfChunksShareTheirGap) {
  Answers answers;
  answers.add(5, {1, 2, 2});
  const Load load = answers.load();
  ASSERT_TRUE(load.itl_known);
  EXPECT_EQ(load.itl.p50->value, 5.0 * kMs);
}
TEST(TokenCounts, OfChunksAboveTheResponseAreNotUsed) {
  Answers answers;
  answers.add(5, {1, 4'000'000'000, 2});
  EXPECT_FALSE(answers.load().itl_known);
}
TEST(TokenCounts, OfChunksNeedTheOneOfTheResponse) {
  Answers answers;
  answers.add({}, {1, 2, 2});
  EXPECT_FALSE(answers.load().itl_known);
}
TEST(TokenCounts, RejectedUsageIsCountedWithItsReason) {
  Answers answers;
  answers.add(3);
  answers.add({}).detail = answers.names.intern("usage reports 500 output tokens");
  const Load load = answers.load();
  EXPECT_EQ(load.usage_rejected, 1);
  EXPECT_EQ(load.tokens_unknown, 1);
  EXPECT_EQ(load.usage_example, "usage reports 500 output tokens");
  EXPECT_FALSE(load.rates.output_tokens_per_second);
}
TEST(TokenCounts, UnknownPromptTokensAreNotZero) {
  Answers answers;
  answers.add(3);
  EXPECT_TRUE(answers.load().rates.output_tokens_per_second);
  EXPECT_FALSE(answers.load().rates.prompt_tokens_per_second);
  answers.requests.back().prompt_tokens = 8;
  EXPECT_TRUE(answers.load().rates.prompt_tokens_per_second);
}
TEST(TokenCounts, ReasonsOfFailuresAreNotRejectedUsage) {
  Answers answers;
  trace::LlmRequestRow& row = answers.add({});
  row.outcome = answers.names.intern("timeout");
  row.detail = answers.names.intern("no response");
  EXPECT_EQ(answers.load().usage_rejected, 0);
}
TEST(TokenCounts, RetriesOfFailedRequestsCountToo) {
  Answers answers;
  answers.add(3).retries = 1;
  trace::LlmRequestRow& row = answers.add({});
  row.outcome = answers.names.intern("http_429");
  row.retries = 2;
  EXPECT_EQ(answers.load().retries, 3);
}

}  // namespace
}  // namespace aaco::analytics::llm
