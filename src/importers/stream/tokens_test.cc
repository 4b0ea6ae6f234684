#include "importers/stream/tokens.h"

#include <gtest/gtest.h>

namespace aaco::importers {
namespace {

TEST(Microseconds, AreExact) {
  EXPECT_EQ(microseconds_to_ns("1623212388426902"), 1623212388426902000);
  EXPECT_EQ(microseconds_to_ns("1623212388426902.125"), 1623212388426902125);  // a double has no room for this
  EXPECT_EQ(microseconds_to_ns("0.001"), 1);
  EXPECT_EQ(microseconds_to_ns("9007199254740993.001"), 9007199254740993001);
  EXPECT_EQ(microseconds_to_ns("12.5"), 12500);
  EXPECT_EQ(microseconds_to_ns("7"), 7000);
  EXPECT_EQ(microseconds_to_ns("3.1419999"), 3142);
  EXPECT_EQ(microseconds_to_ns("3.14149999"), 3141);
  EXPECT_EQ(microseconds_to_ns("4.1989999999850988"), 4199);  // as arithmetic with doubles leaves 4.199
  EXPECT_EQ(microseconds_to_ns("1623212388426902.1249999999"), 1623212388426902125);
  EXPECT_EQ(microseconds_to_ns("-1.4999999"), -1500);
  EXPECT_EQ(microseconds_to_ns("9.9999999"), 10000);
  EXPECT_EQ(microseconds_to_ns("9007199254740993.0019"), 9007199254740993001);  // one decimal more does not fit
  EXPECT_EQ(microseconds_to_ns("-1.5"), -1500);
}

TEST(Microseconds, FollowExponents) {
  EXPECT_EQ(microseconds_to_ns("1.6232123884269e+15"), 1623212388426900000);
  EXPECT_EQ(microseconds_to_ns("25E-1"), 2500);
  EXPECT_EQ(microseconds_to_ns("5e-7"), 0);
  EXPECT_EQ(microseconds_to_ns("12345e-4"), 1234);
  EXPECT_EQ(microseconds_to_ns("1.62321238842690e+15"), 1623212388426900000);
  EXPECT_EQ(microseconds_to_ns("4.1989999999e0"), 4199);
}

TEST(Microseconds, RefuseInvalidOrOverflowingNumbers) {
  for (const char* token : {"", "abc", "1.2.3", "null", "true", "1e", "1e40", "9e30", "1e16", "99999999999999999999",
                            "9223372036854775807", "NaN", "-", "."})
    EXPECT_FALSE(microseconds_to_ns(token)) << token;
  EXPECT_FALSE(microseconds_to_ns(std::string(10000, '9')));
  EXPECT_EQ(microseconds_to_ns("5e-999999999"), 0);
}

TEST(Ids, ExceedTwoToThe63) {
  EXPECT_EQ(token_u64("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(token_u64("0x10"), 16U);
  EXPECT_EQ(token_u64("7.0"), 7U);
  EXPECT_FALSE(token_u64("18446744073709551616"));
  EXPECT_FALSE(token_u64("-1"));
  EXPECT_FALSE(token_u64("7.5"));
  EXPECT_FALSE(token_u64(""));
  EXPECT_EQ(token_i64("-3"), -3);
  EXPECT_FALSE(token_i64("9223372036854775808"));
}

TEST(Unescape, GivesTheText) {
  EXPECT_EQ(unescape(R"(a\"b\\c\/d\n)"), "a\"b\\c/d\n");
  EXPECT_EQ(unescape(R"(\u00e9\u20ac\ud83d\ude00)"), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(unescape("\xC3\xA9"), "\xC3\xA9");
}

TEST(Unescape, ReplacesInvalidText) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(unescape("a\xFFz"), "a" + mark + "z");
  EXPECT_EQ(unescape("\xC0\xAF"), mark + mark);             // overlong
  EXPECT_EQ(unescape("\xED\xA0\x80"), mark + mark + mark);  // a surrogate
  EXPECT_EQ(unescape(R"(\ud800x)"), mark + "x");
  EXPECT_EQ(unescape(R"(\u00)"), mark + "00");
  EXPECT_EQ(unescape("\\"), mark);
  EXPECT_EQ(unescape(R"(\u0000)"), mark);
  EXPECT_EQ(unescape(std::string_view("\0", 1)), mark);
  EXPECT_EQ(clean_utf8("{\"a\":\"\\u00e9\xFF\"}"), "{\"a\":\"\\u00e9" + mark + "\"}");
  EXPECT_FALSE(is_plain("\t"));
  EXPECT_FALSE(is_plain("a\\n"));
  EXPECT_TRUE(is_plain("void f<int>(a, b)"));
}

}  // namespace
}  // namespace aaco::importers
