#include "serving/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::serving {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

RequestRecord answer(std::int64_t asked, std::int64_t chunks, std::int64_t bytes, std::optional<std::int64_t> tokens) {
  RequestRecord record;
  record.output_tokens_asked = asked;
  record.content_chunks = chunks;
  record.content_bytes = bytes;
  record.usage.output_tokens = tokens;
  return record;
}

TEST(Usage, EqualToTheChunksIsAccepted) { EXPECT_THAT(usage_contradiction(answer(10, 10, 40, 10)), IsEmpty()); }
TEST(Usage, SeveralTokensPerChunkAreAccepted) { EXPECT_THAT(usage_contradiction(answer(10, 4, 40, 10)), IsEmpty()); }
TEST(Usage, MissingUsageIsNotAContradiction) { EXPECT_THAT(usage_contradiction(answer(10, 4, 40, {})), IsEmpty()); }
TEST(Usage, TextlessTokensAreAccepted) { EXPECT_THAT(usage_contradiction(answer(128, 1, 2, 3)), IsEmpty()); }
TEST(Usage, ServerThatIgnoresMaxTokensIsAccepted) { EXPECT_THAT(usage_contradiction(answer(10, 50, 200, 50)), IsEmpty()); }
TEST(Usage, FlushedRestIsAccepted) { EXPECT_THAT(usage_contradiction(answer(10, 11, 40, 10)), IsEmpty()); }
TEST(Usage, ToolCallsHaveTokensBesideTheirArguments) {
  RequestRecord record = answer(64, 1, 2, 30);
  record.tool_call = true;
  EXPECT_THAT(usage_contradiction(record), IsEmpty());
}
TEST(Usage, AllTokensThatWereAskedForAreAccepted) { EXPECT_THAT(usage_contradiction(answer(24, 2, 2, 24)), IsEmpty()); }
TEST(Usage, NoOutputHasNoBytesToCompare) { EXPECT_THAT(usage_contradiction(answer(64, 0, 0, 60)), IsEmpty()); }
TEST(Usage, MoreThanMaxTokensIsRejected) {
  EXPECT_THAT(usage_contradiction(answer(10, 10, 4000, 1000)), HasSubstr("more than max_tokens (10)"));
}
TEST(Usage, MoreTokensThanBytesIsRejected) {
  EXPECT_THAT(usage_contradiction(answer(500, 20, 100, 400)), HasSubstr("more than the response has bytes (100)"));
}
TEST(Usage, FewerTokensThanChunksIsRejected) {
  EXPECT_THAT(usage_contradiction(answer(64, 64, 300, 5)), HasSubstr("fewer than the response has chunks (64)"));
}
TEST(Usage, ZeroTokensWithContentIsRejected) { EXPECT_THAT(usage_contradiction(answer(64, 1, 5, 0)), HasSubstr("fewer")); }
TEST(Usage, RejectedCountIsUnknownAndSaysWhy) {
  RequestRecord record = answer(10, 10, 40, 1000);
  check_usage(record);
  EXPECT_FALSE(record.usage.output_tokens);
  EXPECT_THAT(record.detail, HasSubstr("1000"));
}
TEST(Usage, AcceptedCountStays) {
  RequestRecord record = answer(10, 10, 40, 10);
  check_usage(record);
  EXPECT_EQ(record.usage.output_tokens, 10);
  EXPECT_THAT(record.detail, IsEmpty());
}

RequestRecord reasoned(std::int64_t tokens, std::int64_t reasoning) {
  RequestRecord record = answer(200, 2, 3, tokens);
  record.usage.reasoning_tokens = reasoning;
  return record;
}
TEST(Usage, ReasoningThatWasNotSentIsLeftOut) {
  RequestRecord record = reasoned(120, 118);
  check_usage(record);
  EXPECT_EQ(record.usage.output_tokens, 2);
  EXPECT_THAT(record.detail, HasSubstr("118 of 120"));
}
TEST(Usage, ReasoningThatWasSentCounts) {
  RequestRecord record = answer(200, 120, 400, 120);
  record.usage.reasoning_tokens = 100;
  record.reasoning = true;
  check_usage(record);
  EXPECT_EQ(record.usage.output_tokens, 120);
  EXPECT_THAT(record.detail, IsEmpty());
}
TEST(Usage, ReasoningBesideTheOutputTokensIsNotSubtracted) {
  RequestRecord record = reasoned(2, 118);
  check_usage(record);
  EXPECT_EQ(record.usage.output_tokens, 2);
  EXPECT_THAT(record.detail, IsEmpty());
}
TEST(Usage, ReasoningAboveMaxTokensIsRejected) {
  RequestRecord record = reasoned(300, 298);
  check_usage(record);
  EXPECT_FALSE(record.usage.output_tokens);
}

}  // namespace
}  // namespace aaco::serving
