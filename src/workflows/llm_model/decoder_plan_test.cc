#include "workflows/llm_model/decoder_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

std::vector<std::string> names_of(const LlmModelRequest& request) {
  std::vector<std::string> names;
  for (const DecoderLevel& level : decoder_levels(request)) names.push_back(level.name);
  return names;
}

TEST(DecoderLevels, TheCurveIsPartsOfThePrompt) {
  EXPECT_THAT(names_of({}),
              testing::ElementsAre("prompt 512, batch 1", "prompt 64, batch 1", "prompt 128, batch 1", "prompt 256, batch 1"));
}

TEST(DecoderLevels, BatchesComeFirst) {
  LlmModelRequest request;
  request.batches = {1, 4};
  request.contexts = std::vector<std::int64_t>{32};
  EXPECT_THAT(names_of(request), testing::ElementsAre("prompt 512, batch 1", "prompt 512, batch 4", "prompt 32, batch 1"));
}

TEST(DecoderLevels, RepeatedOnesAreMeasuredOnce) {
  LlmModelRequest request;
  request.batches = {2, 2};
  request.contexts = std::vector<std::int64_t>{512};
  EXPECT_THAT(names_of(request), testing::ElementsAre("prompt 512, batch 2"));
}

TEST(DecoderLevels, OnlyTheFirstIsTheMainOne) {
  const auto levels = decoder_levels({});
  EXPECT_TRUE(levels[0].main);
  EXPECT_FALSE(levels[1].main);
  EXPECT_EQ(levels[0].cached(), 512 + 128 - 1);
  EXPECT_EQ(levels[1].output, 32);
}

TEST(DecoderLevels, AShortPromptHasAShortCurve) {
  LlmModelRequest request;
  request.prompt_tokens = 1;
  EXPECT_EQ(decoder_levels(request).size(), 1U);
}

std::string level_problem(std::int64_t prompt, std::int64_t batch, runner::llm::DecoderLayout layout) {
  LlmModelRequest request;
  request.prompt_tokens = prompt;
  request.batches = {batch};
  const auto checked = check_levels(decoder_levels(request), layout);
  return checked ? "" : checked.error().text();
}

TEST(CheckLevels, TheLastTokenNeedsNoPosition) {
  runner::llm::DecoderLayout layout;
  layout.max_positions = 639;
  EXPECT_EQ(level_problem(512, 1, layout), "");
}
TEST(CheckLevels, RefusesMoreThanThePositions) {
  runner::llm::DecoderLayout layout;
  layout.max_positions = 638;
  EXPECT_THAT(level_problem(512, 1, layout), testing::HasSubstr("exceed the model's 638 positions"));
}
TEST(CheckLevels, RefusesAnotherBatchThanTheFixedOne) {
  runner::llm::DecoderLayout layout;
  layout.batch = 1;
  EXPECT_EQ(level_problem(512, 1, layout), "");
  EXPECT_THAT(level_problem(512, 2, layout), testing::HasSubstr("use --batch 1"));
}

}  // namespace
}  // namespace aaco::workflows
