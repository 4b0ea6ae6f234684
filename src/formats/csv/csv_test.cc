#include "formats/csv.h"

#include <gtest/gtest.h>

namespace aaco::formats::csv {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records records_of(std::string_view text) {
  Records records;
  Decoder decoder;
  const char* at = text.data();
  while (decoder.next(at, text.data() + text.size(), true) == Step::record)
    records.emplace_back(decoder.fields().begin(), decoder.fields().end());
  return records;
}

TEST(Csv, PlainFields) { EXPECT_EQ(records_of("a,b,,d\n1,2,3,4\n"), (Records{{"a", "b", "", "d"}, {"1", "2", "3", "4"}})); }
TEST(Csv, CrLf) { EXPECT_EQ(records_of("a,\"b\"\r\n1,2\r\n"), (Records{{"a", "b"}, {"1", "2"}})); }
TEST(Csv, BlankLinesAreSkipped) { EXPECT_EQ(records_of("\n\r\na\n\n\nb\n"), (Records{{"a"}, {"b"}})); }
TEST(Csv, CommasAndLineEndsInQuotes) {
  EXPECT_EQ(records_of("\"f(int, int)\",\"x\ny\",1\n"), (Records{{"f(int, int)", "x\ny", "1"}}));
}
TEST(Csv, DoubledQuotes) { EXPECT_EQ(records_of("\"a \"\"b\"\" c\",1\n\"\"\"\"\n"), (Records{{"a \"b\" c", "1"}, {"\""}})); }
TEST(Csv, QuotesThatWereNotDoubled) { EXPECT_EQ(records_of("\"op \"\" _x(\"y\")\",1\n"), (Records{{"op \" _x(\"y\")", "1"}})); }
TEST(Csv, AQuoteInsideAPlainFieldIsText) { EXPECT_EQ(records_of("a\"b,c\n"), (Records{{"a\"b", "c"}})); }
TEST(Csv, EmptyQuotedFields) { EXPECT_EQ(records_of("\"\",\"\"\n"), (Records{{"", ""}})); }
TEST(Csv, ATrailingCommaIsAnEmptyField) { EXPECT_EQ(records_of("a,b,\n"), (Records{{"a", "b", ""}})); }
TEST(Csv, NulIsAByteAsAnyOther) {
  EXPECT_EQ(records_of(std::string_view("a\0b,c\n", 6)), (Records{{std::string("a\0b", 3), "c"}}));
}
TEST(Csv, LastLineNeedsNoNewline) { EXPECT_EQ(records_of("a,b\n1,\"2\""), (Records{{"a", "b"}, {"1", "2"}})); }
TEST(Csv, UnclosedQuoteExtendsToEndOfInput) { EXPECT_EQ(records_of("1,\"2,3\n4"), (Records{{"1", "2,3\n4"}})); }
TEST(Csv, EmptyInputYieldsNoRows) {
  EXPECT_EQ(records_of(""), Records{});
  EXPECT_EQ(records_of("\n\n"), Records{});
}

TEST(Csv, SaysWhetherARecordHadItsLineEnd) {
  constexpr std::string_view kText = "a\nb";
  Decoder decoder;
  const char* at = kText.data();
  ASSERT_EQ(decoder.next(at, kText.data() + kText.size(), true), Step::record);
  EXPECT_TRUE(decoder.terminated());
  ASSERT_EQ(decoder.next(at, kText.data() + kText.size(), true), Step::record);
  EXPECT_FALSE(decoder.terminated());
}

TEST(Csv, ResumesAfterTruncationAtAnyByte) {
  constexpr std::string_view kText = "x,\"a, \"\"b\"\"\r\n c\",\"\",12\r\ny,2,3,4\n";
  for (std::size_t cut = 0; cut < kText.size(); ++cut) {
    Records records;
    Decoder decoder;
    const char* at = kText.data();
    const char* cut_at = at + cut;
    const char* end = at + kText.size();
    const auto take = [&](const char* until, bool last) {
      while (decoder.next(at, until, last) == Step::record)
        records.emplace_back(decoder.fields().begin(), decoder.fields().end());
    };
    take(cut_at, false);
    take(end, true);
    EXPECT_EQ(records, (Records{{"x", "a, \"b\"\r\n c", "", "12"}, {"y", "2", "3", "4"}})) << cut;
  }
}

}  // namespace
}  // namespace aaco::formats::csv
