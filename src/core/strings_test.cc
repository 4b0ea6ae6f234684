#include "core/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_view_literals;

TEST(Trim, BothSides) { EXPECT_EQ(trim(" a b\t\n"), "a b"); }
TEST(Trim, NulBytes) { EXPECT_EQ(trim("\0x\0"sv), "x"); }
TEST(Trim, OnlySpace) { EXPECT_EQ(trim(" \n"), ""); }
TEST(Split, EmptyFields) { EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b")); }
TEST(Split, Nothing) { EXPECT_THAT(split("", ','), ElementsAre("")); }
TEST(Split, SeparatorAtTheEnd) { EXPECT_THAT(split("a,", ','), ElementsAre("a", "")); }
TEST(SplitLines, BothLineEnds) { EXPECT_THAT(split_lines("a\r\nb\n\nc"), ElementsAre("a", "b", "", "c")); }
TEST(SplitLines, FinalLineEnd) { EXPECT_THAT(split_lines("a\n"), ElementsAre("a")); }
TEST(SplitLines, Nothing) { EXPECT_THAT(split_lines(""), IsEmpty()); }
TEST(SplitWords, AnySpace) { EXPECT_THAT(split_words("  a\t b\n"), ElementsAre("a", "b")); }
TEST(SplitWords, Nothing) { EXPECT_THAT(split_words(" "), IsEmpty()); }
TEST(ToLower, KeepsOtherBytes) { EXPECT_EQ(to_lower("AbÉ"), "abÉ"); }
TEST(ReplaceAll, Repeated) { EXPECT_EQ(replace_all("aaa", "a", "aa"), "aaaaaa"); }
TEST(ReplaceAll, NothingToFind) { EXPECT_EQ(replace_all("abc", "", "x"), "abc"); }
TEST(Join, EmptyParts) { EXPECT_EQ(join(std::vector<std::string>{"", "a", ""}, ","), ",a,"); }
TEST(Join, Nothing) { EXPECT_EQ(join(std::vector<std::string>{}, ","), ""); }

TEST(Nearest, Misspelt) { EXPECT_EQ(nearest("resnet5", {"resnet50", "bert-base"}), "resnet50"); }
TEST(Nearest, Same) { EXPECT_EQ(nearest("a", {"a"}), "a"); }
TEST(Nearest, NoSimilarWord) { EXPECT_EQ(nearest("resnet50", {"gpt2", "bert-base"}), ""); }
TEST(Nearest, ShortWordsShareALetterAtLeast) { EXPECT_EQ(nearest("ab", {"xy"}), ""); }
TEST(Nearest, OneLetter) { EXPECT_EQ(nearest("x", {"y", "zz"}), ""); }
TEST(Nearest, NoWord) { EXPECT_EQ(nearest("", {"ab"}), ""); }
TEST(Nearest, NoCandidates) { EXPECT_EQ(nearest("a", {}), ""); }

}  // namespace
}  // namespace aaco::core
