#include "core/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/source_dir.h"

namespace aaco::core {
namespace {

using testing::HasSubstr;

Json parsed(std::string_view text) {
  auto result = Json::parse(text);
  EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().text());
  return result ? *result : Json("not parsed");
}
std::string refusal(std::string_view text) {
  const auto result = Json::parse(text);
  return result ? "accepted" : result.error().text();
}
std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(JsonParse, Null) { EXPECT_TRUE(parsed("null").is_null()); }
TEST(JsonParse, Bool) { EXPECT_EQ(parsed("true").as_bool(), true); }
TEST(JsonParse, Text) { EXPECT_EQ(parsed(R"("a\u00e9\n")").text(), "aé\n"); }
TEST(JsonParse, SurrogatePair) { EXPECT_EQ(parsed(R"("\ud83d\ude00")").text(), "😀"); }
TEST(JsonParse, LargestSigned) { EXPECT_EQ(parsed("9223372036854775807").as_i64(), INT64_MAX); }
TEST(JsonParse, SmallestSigned) { EXPECT_EQ(parsed("-9223372036854775808").as_i64(), INT64_MIN); }
TEST(JsonParse, LargestUnsigned) { EXPECT_EQ(parsed("18446744073709551615").as_u64(), UINT64_MAX); }
TEST(JsonParse, NanosecondsKeepEveryDigit) {
  EXPECT_EQ(parsed("[1763712930123456789]").items()[0].as_i64(), 1763712930123456789);
}
TEST(JsonParse, Order) { EXPECT_EQ(parsed(R"({"b":1,"a":2})").members()[0].first, "b"); }
TEST(JsonParse, KeyTwiceKeepsTheLastValue) { EXPECT_EQ(parsed(R"({"a":1,"b":2,"a":3})").dump(-1), R"({"a":3,"b":2})"); }
TEST(JsonParse, WhiteSpace) { EXPECT_EQ(parsed(" [ 1 , 2 ] \n").items().size(), 2u); }
TEST(JsonParse, EmptyContainers) { EXPECT_EQ(parsed(R"({"a":[],"b":{}})").dump(-1), R"({"a":[],"b":{}})"); }
TEST(JsonParse, DepthAtTheLimit) { EXPECT_TRUE(Json::parse(nested(256, "[", "]"))); }
TEST(JsonParse, TextWithANulInside) { EXPECT_EQ(parsed(R"("a\u0000b")").text().size(), 3u); }

TEST(JsonRefuses, Nothing) { EXPECT_THAT(refusal(""), HasSubstr("not valid JSON")); }
TEST(JsonRefuses, CutObject) { EXPECT_THAT(refusal(R"({"a": 1)"), HasSubstr("byte 8")); }
TEST(JsonRefuses, CutText) { EXPECT_THAT(refusal(R"(["abc)"), HasSubstr("not valid JSON")); }
TEST(JsonRefuses, TrailingComma) { EXPECT_THAT(refusal("[1,]"), HasSubstr("byte 4")); }
TEST(JsonRefuses, SecondValue) { EXPECT_THAT(refusal("1 2"), HasSubstr("byte 3")); }
TEST(JsonRefuses, Comment) { EXPECT_THAT(refusal("// no\n1"), HasSubstr("not valid")); }
TEST(JsonRefuses, SingleQuotes) { EXPECT_THAT(refusal("{'a':1}"), HasSubstr("not valid")); }
TEST(JsonRefuses, BareWord) { EXPECT_THAT(refusal("nul"), HasSubstr("not valid")); }
TEST(JsonRefuses, NaN) { EXPECT_THAT(refusal("NaN"), HasSubstr("not valid")); }
TEST(JsonRefuses, NumberBeyondDouble) { EXPECT_THAT(refusal("1e999"), HasSubstr("number overflow")); }
TEST(JsonRefuses, LeadingZero) { EXPECT_THAT(refusal("01"), HasSubstr("not valid")); }
TEST(JsonRefuses, InvalidUtf8) { EXPECT_THAT(refusal("\"\xC3(\""), HasSubstr("not valid")); }
TEST(JsonRefuses, LoneSurrogate) { EXPECT_THAT(refusal(R"("\ud83d")"), HasSubstr("not valid")); }
TEST(JsonRefuses, RawControlCharacter) { EXPECT_THAT(refusal("\"a\nb\""), HasSubstr("not valid")); }
TEST(JsonRefuses, DepthOverTheLimit) { EXPECT_THAT(refusal(nested(257, "[", "]")), HasSubstr("nested more than 256")); }
TEST(JsonRefuses, ObjectsOverTheLimit) { EXPECT_THAT(refusal(nested(300, R"({"a":)", "}")), HasSubstr("nested more than 256")); }
TEST(JsonRefuses, AMillionOpenBrackets) { EXPECT_THAT(refusal(std::string(1'000'000, '[')), HasSubstr("nested")); }
TEST(JsonRefuses, Binary) { EXPECT_THAT(refusal(std::string("\0\1\2", 3)), HasSubstr("not valid")); }

// Quadratic work on a wide object would make this test run for minutes.
TEST(JsonParse, WideObject) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i) text += "\"key" + std::to_string(i % 200'000) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  const Json document = parsed(text);
  EXPECT_EQ(document.members().size(), 200'000u);
  EXPECT_EQ(document.members()[0].second.as_i64(), 200'000);
  EXPECT_EQ(document.members()[150'000].second.as_i64(), 150'000);
}

TEST(JsonValue, WholeDoubleIsAnInteger) { EXPECT_EQ(Json(3.0).as_i64(), 3); }
TEST(JsonValue, RejectsFractionAsInteger) { EXPECT_EQ(Json(3.5).as_i64(), std::nullopt); }
TEST(JsonValue, RejectsHugeDoubleAsInteger) { EXPECT_EQ(Json(1e300).as_i64(), std::nullopt); }
TEST(JsonValue, RejectsInfinityAsInteger) { EXPECT_EQ(Json(HUGE_VAL).as_i64(), std::nullopt); }
TEST(JsonValue, RejectsNaNAsInteger) { EXPECT_EQ(Json(std::nan("")).as_i64(), std::nullopt); }
TEST(JsonValue, NegativeIsNotUnsigned) { EXPECT_EQ(Json(-1).as_u64(), std::nullopt); }
TEST(JsonValue, LargeUnsignedIsNotSigned) { EXPECT_EQ(Json(UINT64_MAX).as_i64(), std::nullopt); }
TEST(JsonValue, SmallUnsignedIsSigned) { EXPECT_EQ(Json(7UL), Json(7)); }
TEST(JsonValue, RejectsTextAsNumber) { EXPECT_EQ(Json("1").as_f64(), std::nullopt); }
TEST(JsonValue, RejectsBoolAsNumber) { EXPECT_FALSE(Json(true).is_number()); }
TEST(JsonValue, EmptyOptionalIsNull) { EXPECT_TRUE(Json(std::optional<double>()).is_null()); }
TEST(JsonValue, MissingMemberIsNull) { EXPECT_TRUE(Json::object({{"a", 1}})["b"]["c"].is_null()); }
TEST(JsonValue, MemberOfAText) { EXPECT_TRUE(Json("text")["a"].is_null()); }
TEST(JsonValue, SetReplaces) { EXPECT_EQ(Json::object({{"a", 1}}).set("a", 2).dump(-1), R"({"a":2})"); }
TEST(JsonValue, SetIfLeavesNullOut) { EXPECT_EQ(Json::object().set_if("a", Json()).dump(-1), "{}"); }
TEST(JsonValue, SetMakesAnObjectOfNull) { EXPECT_EQ(Json().set("a", 1).dump(-1), R"({"a":1})"); }
TEST(JsonValue, PushMakesAnArrayOfNull) {
  Json value;
  value.push(1);
  EXPECT_EQ(value.dump(-1), "[1]");
}

TEST(JsonDump, NotFiniteIsNull) { EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null"); }
TEST(JsonDump, ShortestDouble) { EXPECT_EQ(Json(0.1).dump(), "0.1"); }
TEST(JsonDump, Escapes) { EXPECT_EQ(Json("\"\\\n\t\x01").dump(), R"("\"\\\n\t\u0001")"); }
TEST(JsonDump, KeepsUtf8) { EXPECT_EQ(Json("é😀").dump(), "\"é😀\""); }
TEST(JsonDump, ReplacesInvalidUtf8) { EXPECT_EQ(Json("a\xFF").dump(), "\"a\xEF\xBF\xBD\""); }
TEST(JsonDump, ReplacesOverlongForms) { EXPECT_EQ(Json("\xC0\x80").dump(), "\"\xEF\xBF\xBD\xEF\xBF\xBD\""); }
TEST(JsonDump, ReplacesCutSequence) { EXPECT_EQ(Json("\xE2\x82").dump(), "\"\xEF\xBF\xBD\xEF\xBF\xBD\""); }
TEST(JsonDump, ReplacesSurrogates) { EXPECT_TRUE(Json::parse(Json("\xED\xA0\x80").dump())); }
TEST(JsonDump, Indented) { EXPECT_EQ(Json::object({{"a", Json::array({1, 2})}}).dump(2), "{\n  \"a\": [1, 2]\n}"); }
TEST(JsonDump, RoundTrip) {
  const std::string text = R"({"a":[1,-2,3.25,1e-30,"x",null,true,{"b":[]}],"big":18446744073709551615})";
  EXPECT_EQ(parsed(parsed(text).dump(2)), parsed(text));
}

TEST(JsonFile, ErrorNamesTheFile) {
  EXPECT_THAT(read_json_file(AACO_SOURCE_DIR "/CMakeLists.txt").error().text(), HasSubstr("CMakeLists.txt: not valid JSON"));
}
TEST(JsonFile, Missing) { EXPECT_EQ(read_json_file("/nowhere/x.json").error().code, ErrorCode::not_found); }

}  // namespace
}  // namespace aaco::core
