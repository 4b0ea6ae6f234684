#include "serving/chunk.h"

#include <gtest/gtest.h>

namespace aaco::serving {
namespace {

Chunk read(std::string_view data, std::string_view event = {}) {
  ChunkReader reader(true);
  const auto chunk = reader.read(event, data);
  EXPECT_TRUE(chunk) << data;
  return chunk ? **chunk : Chunk{};
}
ChunkKind kind(std::string_view data, std::string_view event = {}) { return read(data, event).kind; }
bool refused(std::string_view data) {
  ChunkReader reader;
  return !reader.read({}, data);
}

TEST(Chunk, Done) { EXPECT_EQ(kind("[DONE]"), ChunkKind::done); }
TEST(Chunk, RoleOnlyDeltaIsRole) {
  EXPECT_EQ(kind(R"({"choices":[{"delta":{"role":"assistant","content":null}}]})"), ChunkKind::role);
}
TEST(Chunk, EmptyContentIsRole) {
  EXPECT_EQ(kind(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})"), ChunkKind::role);
}
TEST(Chunk, Content) {
  const Chunk chunk = read(R"({"choices":[{"delta":{"content":"hé"}}]})");
  EXPECT_EQ(chunk.kind, ChunkKind::content);
  EXPECT_EQ(chunk.bytes, 3);
  EXPECT_EQ(chunk.text, "hé");
}
TEST(Chunk, CompletionText) { EXPECT_EQ(kind(R"({"choices":[{"text":" a"}]})"), ChunkKind::content); }
TEST(Chunk, Reasoning) { EXPECT_EQ(kind(R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})"), ChunkKind::reasoning); }
TEST(Chunk, ReasoningOfOtherServers) { EXPECT_EQ(kind(R"({"choices":[{"delta":{"reasoning":"hm"}}]})"), ChunkKind::reasoning); }
TEST(Chunk, ToolCallArgument) {
  EXPECT_EQ(kind(R"({"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]})"), ChunkKind::tool_call);
}
TEST(Chunk, ToolCallNameIsRole) {
  EXPECT_EQ(kind(R"({"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":""}}]}}]})"), ChunkKind::role);
}
TEST(Chunk, FunctionCallArgument) {
  EXPECT_EQ(kind(R"({"choices":[{"delta":{"function_call":{"arguments":"{"}}}]})"), ChunkKind::tool_call);
}
TEST(Chunk, FinishReason) { EXPECT_EQ(read(R"({"choices":[{"delta":{},"finish_reason":"length"}]})").finish_reason, "length"); }
TEST(Chunk, UsageAlone) {
  const Chunk chunk =
      read(R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":4}}})");
  EXPECT_EQ(chunk.kind, ChunkKind::usage);
  EXPECT_EQ(chunk.usage, (Usage{.prompt_tokens = 5, .output_tokens = 8, .cached_tokens = 4, .reasoning_tokens = {}}));
}
TEST(Chunk, ContinuousUsageIsContent) {
  EXPECT_EQ(kind(R"({"choices":[{"delta":{"content":"x"}}],"usage":{"completion_tokens":2}})"), ChunkKind::content);
}
TEST(Chunk, NullUsageIsIgnored) { EXPECT_FALSE(read(R"({"choices":[{"delta":{"content":"x"}}],"usage":null})").usage); }
TEST(Chunk, NegativeUsageIsUnknown) {
  EXPECT_FALSE(read(R"({"choices":[],"usage":{"completion_tokens":-1}})").usage->output_tokens);
}
TEST(Chunk, Timings) {
  const Chunk chunk = read(R"({"choices":[],"usage":{},"timings":{"prompt_ms":1.5,"predicted_ms":20}})");
  EXPECT_EQ(chunk.server_prompt_ns, 1'500'000);
  EXPECT_EQ(chunk.server_decode_ns, 20'000'000);
}
TEST(Chunk, ErrorObject) {
  const Chunk chunk = read(R"({"error":{"message":"out of memory","code":500}})");
  EXPECT_EQ(chunk.kind, ChunkKind::error);
  EXPECT_EQ(chunk.error, "out of memory");
  EXPECT_EQ(chunk.error_status, 500);
}
TEST(Chunk, ErrorWithoutAnObjectAroundIt) {
  const Chunk chunk = read(R"({"object":"error","message":"engine died","code":500})");
  EXPECT_EQ(chunk.kind, ChunkKind::error);
  EXPECT_EQ(chunk.error, "engine died");
}
TEST(Chunk, ErrorText) { EXPECT_EQ(read(R"({"error":"no"})").error, "no"); }
TEST(Chunk, NullErrorIsIgnored) { EXPECT_EQ(kind(R"({"error":null,"choices":[{"text":"a"}]})"), ChunkKind::content); }
TEST(Chunk, ErrorEventWithoutJson) { EXPECT_EQ(kind("engine died", "error"), ChunkKind::error); }
TEST(Chunk, ErrorEventWithMessage) { EXPECT_EQ(read(R"({"message":"m"})", "error").error, "m"); }
TEST(Chunk, UnknownObjectIsOther) { EXPECT_EQ(kind(R"({"hello":1})"), ChunkKind::other); }
TEST(Chunk, ChoicesOfWrongTypeAreIgnored) { EXPECT_EQ(kind(R"({"choices":[1,"x",null]})"), ChunkKind::other); }
TEST(Chunk, RefusalIsOutput) { EXPECT_EQ(kind(R"({"choices":[{"delta":{"refusal":"No."}}]})"), ChunkKind::content); }
TEST(Chunk, ContentInParts) {
  const Chunk chunk =
      read(R"({"choices":[{"delta":{"content":[{"type":"text","text":"ab"},1,{"type":"image"},{"text":"c"}]}}]})");
  EXPECT_EQ(chunk.kind, ChunkKind::content);
  EXPECT_EQ(chunk.bytes, 3);
}
TEST(Chunk, ThinkingInParts) {
  const Chunk chunk = read(R"({"choices":[{"delta":{"content":[{"thinking":[{"text":"hm"}]},{"thinking":"so"}]}}]})");
  EXPECT_EQ(chunk.kind, ChunkKind::reasoning);
  EXPECT_EQ(chunk.bytes, 4);
}
TEST(Chunk, PartsWithoutTextAreNoOutput) {
  EXPECT_EQ(kind(R"({"choices":[{"delta":{"content":[{"type":"image_url"}]}}]})"), ChunkKind::role);
}
TEST(Chunk, TokensOfReasoning) {
  EXPECT_EQ(
      read(R"({"usage":{"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":7}}})").usage->reasoning_tokens, 7);
}
TEST(Chunk, DoneWithSpaceAround) { EXPECT_EQ(kind(" [DONE] "), ChunkKind::done); }
TEST(Chunk, NoNumbersOfPython) {
  EXPECT_EQ(kind(R"({"x":[NaN,Infinity,-Infinity,1e999],"choices":[{"delta":{"content":"NaN"}}]})"), ChunkKind::content);
}
TEST(Chunk, HalfOfASurrogatePair) { EXPECT_EQ(kind(R"({"choices":[{"delta":{"content":"\ud83d"}}]})"), ChunkKind::content); }
TEST(Chunk, RefusesText) { EXPECT_TRUE(refused("hello")); }
TEST(Chunk, RefusesArray) { EXPECT_TRUE(refused("[1]")); }
TEST(Chunk, RefusesCutJson) { EXPECT_TRUE(refused(R"({"choices":[{"delta)")); }
TEST(Chunk, RefusesNothing) { EXPECT_TRUE(refused("")); }

TEST(ErrorMessage, OfOpenAi) { EXPECT_EQ(error_message(R"({"error":{"message":"bad key"}})"), "bad key"); }
TEST(ErrorMessage, OfFastApi) { EXPECT_EQ(error_message(R"({"detail":"Not Found"})"), "Not Found"); }
TEST(ErrorMessage, OfHtmlIsEmpty) { EXPECT_EQ(error_message("<html>"), ""); }
TEST(ErrorMessage, OfArrayIsEmpty) { EXPECT_EQ(error_message("[]"), ""); }

}  // namespace
}  // namespace aaco::serving
