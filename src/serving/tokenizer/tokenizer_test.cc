#include "serving/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/tokenizer/splitter.h"

namespace aaco::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Ids = std::vector<std::int64_t>;

Ids encode(const std::string& document, std::string_view text) {
  const auto json = core::Json::parse(document);
  EXPECT_TRUE(json);
  const auto tokenizer = Tokenizer::parse(*json);
  EXPECT_TRUE(tokenizer) << (tokenizer ? "" : tokenizer.error().text());
  return tokenizer ? tokenizer->encode(text) : Ids();
}
std::string refusal(const std::string& document) {
  const auto json = core::Json::parse(document);
  if (!json) return "not JSON";
  const auto tokenizer = Tokenizer::parse(*json);
  return tokenizer ? std::string() : tokenizer.error().message;
}

// h e l o w r d Ġ he ll hell hello Ġw
const std::string kBpe = R"({"model": {"type": "BPE", "vocab": {"h": 0, "e": 1, "l": 2, "o": 3, "w": 4, "r": 5, "d": 6, "Ġ": 7,
  "he": 8, "ll": 9, "hell": 10, "hello": 11, "Ġw": 12}, "merges": ["h e", "l l", "he ll", "hell o", "Ġ w"]},
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "added_tokens": [{"id": 13, "content": "<|end|>"}]})";

TEST(Bpe, MergesInTheirOrder) { EXPECT_THAT(encode(kBpe, "hello world"), ElementsAre(11, 12, 3, 5, 2, 6)); }
TEST(Bpe, AddedTokensAreWhole) { EXPECT_THAT(encode(kBpe, "he<|end|>he"), ElementsAre(8, 13, 8)); }
TEST(Bpe, PairsAsArrays) {
  EXPECT_THAT(encode(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}})", "abab"),
              ElementsAre(2, 2));
}
TEST(Bpe, UnknownWithoutATokenIsLeftOut) { EXPECT_THAT(encode(kBpe, "hx"), ElementsAre(0)); }
TEST(Bpe, FallsBackToBytes) {
  EXPECT_THAT(
      encode(
          R"({"model": {"type": "BPE", "byte_fallback": true, "unk_token": "?", "vocab": {"?": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3},
    "merges": []}})",
          "a\xc3\xa9"),
      ElementsAre(1, 2, 3));
}
TEST(Bpe, UnknownsFuse) {
  EXPECT_THAT(encode(R"({"model": {"type": "BPE", "fuse_unk": true, "unk_token": "?", "vocab": {"?": 0, "a": 1}, "merges": []}})",
                     "axya"),
              ElementsAre(1, 0, 1));
}
TEST(Bpe, WholeWordsWithoutMerges) {
  EXPECT_THAT(
      encode(R"({"model": {"type": "BPE", "ignore_merges": true, "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": []}})", "ab"),
      ElementsAre(2));
}
// As Llama 2 has it: a mark before the first word and for each space, no cut before the merges.
TEST(Bpe, SpacesAsMarks) {
  EXPECT_THAT(encode(R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "model": {"type": "BPE", "vocab": {"▁": 0, "a": 1, "▁a": 2}, "merges": ["▁ a"]}})",
                     "a a"),
              ElementsAre(2, 2));
}

const std::string kUnigram = R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
  "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁", -3], ["a", -2], ["b", -2.5], ["ab", -3], ["▁ab", -4], ["▁a", -5]]}})";
TEST(Unigram, TakesTheHighestScore) { EXPECT_THAT(encode(kUnigram, "ab ab"), ElementsAre(5, 5)); }
TEST(Unigram, PrefersTwoPiecesWithAHigherSum) {
  EXPECT_THAT(encode(R"({"model": {"type": "Unigram", "vocab": [["a", -1], ["b", -1], ["ab", -3]]}})", "ab"), ElementsAre(0, 1));
}
TEST(Unigram, UnknownCharactersFuse) { EXPECT_THAT(encode(kUnigram, "xyz"), ElementsAre(1, 0)); }

std::string words(const SplitPattern& pattern, std::string_view text) {
  std::string joined;
  for (const std::string_view word : split_words_by(pattern, text)) joined += (joined.empty() ? "" : "|") + std::string(word);
  return joined;
}
constexpr SplitPattern kGpt2{false, 0}, kLlama3{true, 3};
TEST(Split, Gpt2) { EXPECT_EQ(words(kGpt2, "I'm here, 12345  times\n\n  x"), "I|'m| here|,| 12345| | times|\n\n | x"); }
TEST(Split, Modern) {
  EXPECT_EQ(words(kLlama3, "I'M here, 12345  (times)\n\n  x"), "I|'M| here|,| |123|45| | (|times|)\n\n| | x");
}
TEST(Split, SpacesAtTheEnd) { EXPECT_EQ(words(kGpt2, "a   "), "a|   "); }
TEST(Split, LettersBeyondAscii) {
  EXPECT_EQ(words(kGpt2, "na\xc3\xafve \xe4\xbd\xa0\xe5\xa5\xbd!"), "na\xc3\xafve| \xe4\xbd\xa0\xe5\xa5\xbd|!");
}
TEST(Split, InvalidUtf8IsKept) { EXPECT_EQ(words(kGpt2, "a\xff\xc3"), "a|\xff\xc3"); }
TEST(Split, EmptyTextYieldsNoWords) { EXPECT_TRUE(split_words_by(kLlama3, "").empty()); }
TEST(Split, UnknownPatternIsNotGuessed) { EXPECT_FALSE(known_pattern("\\w+")); }
TEST(ByteLevel, EveryByteIsPrintable) {
  EXPECT_EQ(byte_level(" a\n"),
            "\xc4\xa0"
            "a\xc4\x8a");
}

TEST(TokenizerFile, RejectsNoModel) { EXPECT_THAT(refusal("{}"), HasSubstr("no model")); }
TEST(TokenizerFile, RejectsAnotherModel) {
  EXPECT_THAT(refusal(R"({"model": {"type": "WordPiece", "vocab": {"a": 0}}})"), HasSubstr("WordPiece"));
}
TEST(TokenizerFile, RejectsAnEmptyVocabulary) {
  EXPECT_THAT(refusal(R"({"model": {"type": "BPE", "vocab": {}, "merges": []}})"), HasSubstr("empty"));
}
TEST(TokenizerFile, RejectsAnUnknownPattern) {
  EXPECT_THAT(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
    "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\w"}, "behavior": "Isolated"}})"),
              HasSubstr("pattern"));
}
TEST(TokenizerFile, RejectsAnUnknownPreTokenizer) {
  EXPECT_THAT(
      refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"type": "BertPreTokenizer"}})"),
      HasSubstr("BertPreTokenizer"));
}
TEST(TokenizerFile, RejectsAnUnknownNormalizer) {
  EXPECT_THAT(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "normalizer": {"type": "StripAccents"}})"),
              HasSubstr("StripAccents"));
}
TEST(TokenizerFile, RejectsAnInvalidMerge) {
  EXPECT_THAT(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["ab"]}})"), HasSubstr("pair"));
}
TEST(TokenizerFile, RejectsAPieceWithoutAScore) {
  EXPECT_THAT(refusal(R"({"model": {"type": "Unigram", "vocab": [["a"]]}})"), HasSubstr("score"));
}
TEST(TokenizerFile, RejectsAMissingFile) { EXPECT_FALSE(Tokenizer::load("/nonexistent/tokenizer.json")); }

}  // namespace
}  // namespace aaco::serving
