#include "serving/mended_json.h"

#include <gtest/gtest.h>

namespace aaco::serving {
namespace {

TEST(MendedJson, NoNumbersBecomeNull) { EXPECT_EQ(mended_json("[NaN,Infinity,-Infinity,-1]"), "[null,null,null,-1]"); }
TEST(MendedJson, NumbersBeyondADoubleBecomeNull) {
  EXPECT_EQ(mended_json("[1e999,-1e999,1e9,-0.5,1.5e-3]"), "[null,null,1e9,-0.5,1.5e-3]");
  EXPECT_EQ(mended_json(R"({"e":"1e999"})"), R"({"e":"1e999"})");
}
TEST(MendedJson, NamesInStringsStay) { EXPECT_EQ(mended_json(R"(["NaN","a\"NaN"])"), R"(["NaN","a\"NaN"])"); }
TEST(MendedJson, HalvesOfPairsAreReplaced) {
  EXPECT_EQ(mended_json(R"("\ud83d")"), R"("\ufffd")");
  EXPECT_EQ(mended_json(R"("\ude00a")"), R"("\ufffda")");
  EXPECT_EQ(mended_json(R"("\uD83D\u0041")"), R"("\ufffd\u0041")");
}
TEST(MendedJson, PairsStay) { EXPECT_EQ(mended_json(R"("\ud83d\ude00")"), R"("\ud83d\ude00")"); }
TEST(MendedJson, EscapedBackslashStays) { EXPECT_EQ(mended_json(R"("\\ud83d")"), R"("\\ud83d")"); }
TEST(MendedJson, CutTextStays) {
  for (const char* const text : {"", "\"", "\"\\", "\"\\u", "\"\\ud8", "{\"a", "Na"}) EXPECT_EQ(mended_json(text), text);
}

}  // namespace
}  // namespace aaco::serving
