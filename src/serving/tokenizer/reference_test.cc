#include <gtest/gtest.h>

#include "core/files.h"
#include "serving/tokenizer.h"
#include "tests/support/source_dir.h"

// Ids of an independent implementation (scripts/lib/make_tokenizer_cases.mjs).
namespace aaco::serving {
namespace {

const std::string kFolder = AACO_SOURCE_DIR "/tests/fixtures/tokenizers/";

class TokenizerReference : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerReference, IdsEqual) {
  const auto tokenizer = Tokenizer::load(kFolder + GetParam() + ".json");
  ASSERT_TRUE(tokenizer) << tokenizer.error().text();
  const auto cases = core::read_json_file(kFolder + "cases.json");
  ASSERT_TRUE(cases);
  const auto& texts = (*cases)[GetParam()].items();
  ASSERT_GT(texts.size(), 50U);
  for (const core::Json& one : texts) {
    std::vector<std::int64_t> ids;
    for (const core::Json& id : one["ids"].items()) ids.push_back(id.as_i64().value_or(-1));
    EXPECT_EQ(tokenizer->encode(one["text"].text()), ids) << one["text"].text();
  }
}
INSTANTIATE_TEST_SUITE_P(Forms, TokenizerReference, testing::Values("gpt2", "llama3", "llama2", "unigram"),
                         [](const auto& one_case) { return std::string(one_case.param); });

}  // namespace
}  // namespace aaco::serving
