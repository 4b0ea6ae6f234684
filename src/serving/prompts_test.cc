#include "serving/prompts.h"

#include <gtest/gtest.h>

#include "core/json.h"

namespace aaco::serving {
namespace {

std::vector<Prompt> replay(std::string_view text) {
  auto prompts = parse_replay(text, 1);
  EXPECT_TRUE(prompts) << (prompts ? "" : prompts.error().text());
  return prompts ? *std::move(prompts) : std::vector<Prompt>{};
}
bool refused(std::string_view text) { return !parse_replay(text, 1); }

TEST(Replay, Azure) {
  const auto prompts = replay(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,110,27\n");
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].offset_ns, 0);
  EXPECT_EQ(prompts[1].offset_ns, 52'000'000);
  EXPECT_EQ(prompts[1].prompt_tokens, 110);
  EXPECT_EQ(prompts[1].output_tokens, 27);
}
TEST(Replay, AzureAcrossMidnight) {
  EXPECT_EQ(
      replay("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-12-31 23:59:59.5+00:00,1,1\n2024-01-01 00:00:00.5+00:00,1,1\n")[1]
          .offset_ns,
      1'000'000'000);
}
TEST(Replay, BurstGpt) {
  const auto prompts = replay(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation "
      "log\n45,ChatGPT,10,0,10,API log\n");
  EXPECT_EQ(prompts[1].offset_ns, 40'000'000'000);
  EXPECT_EQ(prompts[1].output_tokens, 1);
  EXPECT_TRUE(prompts[1].without_output);
  EXPECT_FALSE(prompts[0].without_output);
}
TEST(Replay, MooncakeSharesPrefixes) {
  const auto prompts = replay(
      "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [7, 8]}\n"
      "{\"timestamp\": 30, \"input_length\": 700, \"output_length\": 5, \"hash_ids\": [7, 9]}\n");
  EXPECT_EQ(prompts[1].offset_ns, 30'000'000);
  const std::string& one = prompts[0].text;
  const std::string& two = prompts[1].text;
  std::size_t common = 0, words = 0;
  while (one[common] == two[common]) words += one[common++] == ' ' ? 1 : 0;
  EXPECT_GE(words, 512U);
  EXPECT_LT(words, 540U);
}
TEST(Replay, OwnForm) {
  const auto prompts = replay(
      "{\"arrival_s\": 2.5, \"prompt_tokens\": 4, \"output_tokens\": 9}\n{\"arrival_s\": 1, \"prompt_tokens\": 4, "
      "\"output_tokens\": 8}\n");
  EXPECT_EQ(prompts[0].output_tokens, 8);
  EXPECT_EQ(prompts[1].offset_ns, 1'500'000'000);
}
TEST(Replay, SameSeedSameText) {
  EXPECT_EQ(replay("{\"arrival_s\":0,\"prompt_tokens\":9,\"output_tokens\":1}")[0].text,
            replay("{\"arrival_s\":0,\"prompt_tokens\":9,\"output_tokens\":1}")[0].text);
}
TEST(Replay, RefusesNothing) { EXPECT_TRUE(refused("")); }
TEST(Replay, RefusesHeaderAlone) { EXPECT_TRUE(refused("TIMESTAMP,ContextTokens,GeneratedTokens\n")); }
TEST(Replay, RefusesOtherCsv) { EXPECT_TRUE(refused("a,b,c\n1,2,3\n")); }
TEST(Replay, RefusesMissingColumns) { EXPECT_TRUE(refused("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,5\n")); }
TEST(Replay, RefusesBadTime) { EXPECT_TRUE(refused("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,5,5\n")); }
TEST(Replay, RefusesBadMonth) { EXPECT_TRUE(refused("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-16 18:17:03,5,5\n")); }
TEST(Replay, RefusesNegativeTokens) { EXPECT_TRUE(refused("{\"arrival_s\":0,\"prompt_tokens\":-9,\"output_tokens\":1}")); }
TEST(Replay, RefusesMissingTokens) { EXPECT_TRUE(refused("{\"arrival_s\":0,\"prompt_tokens\":9}")); }
TEST(Replay, RefusesHugeTokens) { EXPECT_TRUE(refused("{\"arrival_s\":0,\"prompt_tokens\":99999999999,\"output_tokens\":1}")); }
TEST(Replay, NamesTheLine) {
  const auto prompts = parse_replay("{\"arrival_s\":0,\"prompt_tokens\":9,\"output_tokens\":1}\nx\n", 1);
  ASSERT_FALSE(prompts);
  EXPECT_NE(prompts.error().message.find("line 2"), std::string::npos);
}

std::vector<Prompt> prompts_of(std::string_view text) {
  auto prompts = parse_prompts(text);
  EXPECT_TRUE(prompts) << (prompts ? "" : prompts.error().text());
  return prompts ? *std::move(prompts) : std::vector<Prompt>{};
}
TEST(Prompts, ShareGpt) {
  const auto prompts = prompts_of(
      R"([{"id":"a","conversations":[{"from":"human","value":"hello there friend"},{"from":"gpt","value":"I am fine"}]},)"
      R"({"id":"b","conversations":[{"from":"gpt","value":"welcome"},{"from":"human","value":"why"},{"from":"gpt","value":"so"}]}])");
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].text, "hello there friend");
  EXPECT_EQ(prompts[0].output_tokens, 3);
  EXPECT_EQ(prompts[1].text, "why");  // not the answer it begins with
}
TEST(Prompts, ShareGptConversationsWithoutAnAnswerAreLeftOut) {
  EXPECT_FALSE(parse_prompts(R"([{"conversations":[{"from":"human","value":"hello"}]},{"conversations":[]},{}])"));
  EXPECT_FALSE(parse_prompts(R"([{"conversations":[{"from":"gpt","value":"a"},{"from":"gpt","value":"b"}]}])"));
}
TEST(Prompts, Lines) {
  const auto prompts = prompts_of("{\"prompt\":\"a b\",\"output_tokens\":5}\n\n{\"prompt\":\"c\"}\n");
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].output_tokens, 5);
  EXPECT_FALSE(prompts[1].output_tokens);
}
TEST(Prompts, RefusesInvalidPrompts) {
  EXPECT_FALSE(parse_prompts("{\"text\":\"a\"}"));
  EXPECT_FALSE(parse_prompts("{\"prompt\":\"a\",\"output_tokens\":0}"));
  EXPECT_FALSE(parse_prompts("[1, 2"));
  EXPECT_FALSE(parse_prompts(""));
}

TEST(Length, Parse) {
  EXPECT_EQ(parse_length("512").value(), (Length{.first = 512}));
  EXPECT_EQ(parse_length("uniform:10:20").value(), (Length{.kind = Length::Kind::uniform, .first = 10, .second = 20}));
  EXPECT_EQ(parse_length("normal:100:10").value(), (Length{.kind = Length::Kind::normal, .first = 100, .second = 10}));
}
TEST(Length, DrawsWithinBounds) {
  core::Random random(1);
  const Length length = parse_length("uniform:10:12").value();
  for (int i = 0; i < 1000; ++i) {
    const auto drawn = length.draw(random);
    EXPECT_TRUE(drawn >= 10 && drawn <= 12);
  }
}
TEST(Length, NeverBelowOne) {
  core::Random random(1);
  const Length length = parse_length("normal:1:50").value();
  for (int i = 0; i < 1000; ++i) EXPECT_GE(length.draw(random), 1);
}
TEST(Length, Refusals) {
  for (const char* text : {"", "0", "-5", "x", "uniform:5", "uniform:9:5", "normal:5:-1", "poisson:5:5", "1:2:3:4", "inf", "nan"})
    EXPECT_FALSE(parse_length(text)) << text;
}

TEST(RandomText, HasItsWords) {
  core::Random random(1);
  const std::string text = random_text(100, random);
  EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 100);
}

TEST(RequestBody, ChatAsksForUsage) {
  const auto body = core::Json::parse(request_body({.model = "m\"x"}, "hi", 5)).value();
  EXPECT_EQ(body["model"].text(), "m\"x");
  EXPECT_EQ(body["messages"].items()[0]["content"].text(), "hi");
  EXPECT_EQ(body["stream_options"]["include_usage"].as_bool(), true);
  EXPECT_EQ(body["max_tokens"].as_i64(), 5);
}
TEST(RequestBody, WithoutUsageHasNoStreamOptions) {
  EXPECT_FALSE(core::Json::parse(request_body({.ask_usage = false}, "hi", 5))->contains("stream_options"));
}
TEST(RequestBody, CompletionsHasPrompt) {
  const auto body = core::Json::parse(request_body({.api = Api::completions, .ignore_eos = false}, "hi", 5)).value();
  EXPECT_EQ(body["prompt"].text(), "hi");
  EXPECT_FALSE(body.contains("ignore_eos"));
}

}  // namespace
}  // namespace aaco::serving
