#include "core/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::core {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

YamlNode parsed(std::string_view text) {
  auto node = YamlNode::parse(text, "m.yaml");
  EXPECT_TRUE(node) << text << ": " << (node ? "" : node.error().text());
  return node ? *node : YamlNode();
}
std::string refusal(std::string_view text) {
  const auto node = YamlNode::parse(text, "m.yaml");
  return node ? "accepted" : node.error().text();
}
template <class T>
std::string problem(const Result<T>& result) {
  return result ? "accepted" : result.error().text();
}

TEST(YamlParse, ScalarOfAMapping) { EXPECT_EQ(*parsed("a: 1\nb: text\n").require_string("b"), "text"); }
TEST(YamlParse, QuotedText) { EXPECT_EQ(*parsed("a: '1: 2'").require_string("a"), "1: 2"); }
TEST(YamlParse, BlockSequence) { EXPECT_EQ(parsed("- a\n- b\n").as_strings()->size(), 2u); }
TEST(YamlParse, FlowSequence) { EXPECT_EQ(parsed("[1, 3, 224, 224]").as_f64s()->back(), 224); }
TEST(YamlParse, OneTextIsAListOfOne) { EXPECT_EQ(parsed("a").as_strings()->size(), 1u); }
TEST(YamlParse, Nothing) { EXPECT_TRUE(parsed("").is_null()); }
TEST(YamlParse, OnlyComments) { EXPECT_TRUE(parsed("# nothing here\n").is_null()); }
TEST(YamlParse, Tilde) { EXPECT_TRUE(parsed("a: ~").find("a")->is_null()); }
TEST(YamlParse, OrderOfKeys) { EXPECT_EQ(parsed("z: 1\na: 2\n").entries()[0].first.scalar(), "z"); }
TEST(YamlParse, LineOfAValue) { EXPECT_EQ(parsed("a: 1\n\n# x\nb: 2\n").find("b")->where(), "m.yaml:4"); }
TEST(YamlParse, LineInsideASequence) { EXPECT_EQ(parsed("a:\n  - x\n  - y\n").find("a")->items()[1].where(), "m.yaml:3"); }
TEST(YamlParse, AmpersandInAText) { EXPECT_EQ(*parsed("a: this & that\nb: 2*3").require_string("a"), "this & that"); }
TEST(YamlParse, StarInAQuotedText) { EXPECT_EQ(*parsed("pattern: '*gemm*'").require_string("pattern"), "*gemm*"); }

TEST(YamlRefuses, Anchor) { EXPECT_THAT(refusal("a: 1\nb: &x 2\n"), StartsWith("m.yaml:2: anchors")); }
TEST(YamlRefuses, AnchorInAFlowSequence) { EXPECT_THAT(refusal("a: [&x 1, 2]"), HasSubstr("anchors")); }
TEST(YamlRefuses, AnchorOnANewLine) { EXPECT_THAT(refusal("a:\n  &x\n  b: 1\n"), HasSubstr("anchors")); }
TEST(YamlRefuses, AliasInAFlowMapping) { EXPECT_THAT(refusal("{a: &x 1, b: *x}"), HasSubstr("anchors")); }
TEST(YamlRefuses, UndefinedAlias) { EXPECT_NE(refusal("a: *nowhere"), "accepted"); }
TEST(YamlRefuses, Explosion) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 30; ++i)
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + ", *a" +
            std::to_string(i - 1) + "]\n";
  EXPECT_THAT(refusal(text), HasSubstr("anchors"));
}
TEST(YamlRefuses, KeyTwice) { EXPECT_THAT(refusal("a: 1\nb: 2\na: 3\n"), StartsWith("m.yaml:3: duplicate key 'a'")); }
TEST(YamlRefuses, KeyThatIsASequence) { EXPECT_THAT(refusal("? [1, 2]\n: x\n"), HasSubstr("a key must be a string")); }
TEST(YamlRefuses, SecondDocument) { EXPECT_THAT(refusal("a: 1\n---\nb: 2\n"), StartsWith("m.yaml:3: a second YAML document")); }
TEST(YamlRefuses, TabIndent) { EXPECT_THAT(refusal("a:\n\tb: 1\n"), HasSubstr("not valid YAML")); }
TEST(YamlRefuses, TabIndentByItsName) {
  const auto refused = YamlNode::parse("a:\n\tb: 1\n", "m.yaml");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().remedy, HasSubstr("tab"));
}
TEST(YamlRefuses, OpenBracket) { EXPECT_THAT(refusal("a: [1, 2\n"), HasSubstr("not valid YAML")); }
TEST(YamlRefuses, OpenQuote) { EXPECT_THAT(refusal("a: 1\nb: 'x\n"), HasSubstr("not valid YAML")); }
TEST(YamlRefuses, DeepNesting) {
  EXPECT_THAT(refusal(std::string(70, '[') + std::string(70, ']')), HasSubstr("nested too deeply"));
}
TEST(YamlRefuses, VeryDeepNesting) { EXPECT_NE(refusal(std::string(100'000, '[')), "accepted"); }
TEST(YamlRefuses, MissingFile) { EXPECT_EQ(YamlNode::load("/nowhere/m.yaml").error().code, ErrorCode::not_found); }

TEST(YamlValue, Integer) { EXPECT_EQ(parsed("12").as_i64().value(), 12); }
TEST(YamlValue, Bool) { EXPECT_EQ(parsed("yes").as_bool().value(), true); }
TEST(YamlValue, Real) { EXPECT_EQ(parsed("1.5e3").as_f64().value(), 1500); }
TEST(YamlValue, OptionalAbsent) { EXPECT_EQ(parsed("a: 1").optional_i64("b").value(), std::nullopt); }
TEST(YamlValue, OptionalPresent) { EXPECT_EQ(parsed("a: 1").optional_i64("a").value(), 1); }
TEST(YamlValue, OptionalNull) { EXPECT_EQ(parsed("a:").optional_string("a").value(), std::nullopt); }

TEST(YamlValueRefuses, FractionAsInteger) { EXPECT_THAT(problem(parsed("1.5").as_i64()), StartsWith("m.yaml:1: '1.5'")); }
TEST(YamlValueRefuses, TextAsNumber) { EXPECT_THAT(problem(parsed("a: x").require_f64("a")), HasSubstr("not a number")); }
TEST(YamlValueRefuses, Infinity) { EXPECT_NE(problem(parsed("inf").as_f64()), "accepted"); }
TEST(YamlValueRefuses, NaN) { EXPECT_NE(problem(parsed("nan").as_f64()), "accepted"); }
TEST(YamlValueRefuses, BoolWithOtherWords) { EXPECT_THAT(problem(parsed("maybe").as_bool()), HasSubstr("not a boolean")); }
TEST(YamlValueRefuses, MappingAsText) { EXPECT_NE(problem(parsed("a: 1").as_string()), "accepted"); }
TEST(YamlValueRefuses, MappingAsList) { EXPECT_NE(problem(parsed("a: 1").as_strings()), "accepted"); }
TEST(YamlValueRefuses, ListOfLists) { EXPECT_NE(problem(parsed("[[1]]").as_f64s()), "accepted"); }
TEST(YamlValueRefuses, MissingKey) { EXPECT_THAT(problem(parsed("a: 1").require("b")), HasSubstr("the key 'b' is missing")); }
TEST(YamlValueRefuses, KeyOfAList) { EXPECT_THAT(problem(parsed("[1]").require("b")), HasSubstr("a mapping with the key 'b'")); }
TEST(YamlValueRefuses, OptionalOfAWrongKind) { EXPECT_NE(problem(parsed("a: [1]").optional_f64("a")), "accepted"); }
TEST(YamlValueRefuses, UnknownKeyWithItsLine) {
  const auto status = parsed("path: x\nitertions: 5\n").only_keys({"path", "iterations"});
  EXPECT_THAT(status.error().text(), StartsWith("m.yaml:2: unknown key 'itertions'"));
  EXPECT_THAT(status.error().remedy, HasSubstr("did you mean 'iterations'?"));
}
TEST(YamlValueRefuses, UnknownKeyUnlikeAny) {
  EXPECT_THAT(parsed("zzz: 1").only_keys({"path", "iterations"}).error().remedy, HasSubstr("known keys: path, iterations"));
}

}  // namespace
}  // namespace aaco::core
