#include "core/numbers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace aaco::core {
namespace {

constexpr auto kNone = std::nullopt;

TEST(ParseI64, Plain) { EXPECT_EQ(parse_i64("42"), 42); }
TEST(ParseI64, SpaceAround) { EXPECT_EQ(parse_i64(" -42\n"), -42); }
TEST(ParseI64, NulPadding) { EXPECT_EQ(parse_i64(std::string_view("7\0\0", 3)), 7); }
TEST(ParseI64, PlusSign) { EXPECT_EQ(parse_i64("+5"), 5); }
TEST(ParseI64, Largest) { EXPECT_EQ(parse_i64("9223372036854775807"), INT64_MAX); }
TEST(ParseI64, Smallest) { EXPECT_EQ(parse_i64("-9223372036854775808"), INT64_MIN); }
TEST(ParseI64, RefusesTooLarge) { EXPECT_EQ(parse_i64("9223372036854775808"), kNone); }
TEST(ParseI64, RefusesEmpty) { EXPECT_EQ(parse_i64(""), kNone); }
TEST(ParseI64, RefusesSpaceOnly) { EXPECT_EQ(parse_i64("  "), kNone); }
TEST(ParseI64, RefusesFraction) { EXPECT_EQ(parse_i64("1.0"), kNone); }
TEST(ParseI64, RefusesTail) { EXPECT_EQ(parse_i64("12abc"), kNone); }
TEST(ParseI64, RefusesTwoSigns) { EXPECT_EQ(parse_i64("+-5"), kNone); }
TEST(ParseI64, RefusesASignAlone) { EXPECT_EQ(parse_i64("+"), kNone); }

TEST(ParseU64, Hexadecimal) { EXPECT_EQ(parse_u64("0xFF"), 255u); }
TEST(ParseU64, Largest) { EXPECT_EQ(parse_u64("18446744073709551615"), UINT64_MAX); }
TEST(ParseU64, RefusesNegative) { EXPECT_EQ(parse_u64("-1"), kNone); }
TEST(ParseU64, RefusesPrefixAlone) { EXPECT_EQ(parse_u64("0x"), kNone); }
TEST(ParseU64, RefusesTooLarge) { EXPECT_EQ(parse_u64("0x10000000000000000"), kNone); }

TEST(ParseF64, Exponent) { EXPECT_EQ(parse_f64("1.5e-3"), 0.0015); }
TEST(ParseF64, RefusesOverflow) { EXPECT_EQ(parse_f64("1e400"), kNone); }
TEST(ParseF64, RefusesComma) { EXPECT_EQ(parse_f64("1,5"), kNone); }
TEST(ParseF64, RefusesHexadecimal) { EXPECT_EQ(parse_f64("0x10"), kNone); }

// A double keeps 0.25 us near 1.6e15 us: these must be exact.
TEST(ParseFixed, MicrosecondsSinceTheEpoch) { EXPECT_EQ(parse_fixed("1763712930123456.789", 3), 1763712930123456789); }
TEST(ParseFixed, NeighboursStayApart) {
  EXPECT_EQ(*parse_fixed("1600000000000000.002", 3) - *parse_fixed("1600000000000000.001", 3), 1);
}
TEST(ParseFixed, NoFraction) { EXPECT_EQ(parse_fixed("12", 3), 12000); }
TEST(ParseFixed, PointAtTheEnd) { EXPECT_EQ(parse_fixed("12.", 3), 12000); }
TEST(ParseFixed, PointAtTheStart) { EXPECT_EQ(parse_fixed(".5", 3), 500); }
TEST(ParseFixed, FurtherDigitsAreCut) { EXPECT_EQ(parse_fixed("1.2349", 3), 1234); }
TEST(ParseFixed, Negative) { EXPECT_EQ(parse_fixed("-0.001", 3), -1); }
TEST(ParseFixed, SecondsToNanoseconds) { EXPECT_EQ(parse_fixed("1763712930.123456789", 9), 1763712930123456789); }
TEST(ParseFixed, NoDecimals) { EXPECT_EQ(parse_fixed("5.9", 0), 5); }
TEST(ParseFixed, Largest) { EXPECT_EQ(parse_fixed("9223372036854775.807", 3), INT64_MAX); }
TEST(ParseFixed, Smallest) { EXPECT_EQ(parse_fixed("-9223372036854775.808", 3), INT64_MIN); }
TEST(ParseFixed, LongTail) { EXPECT_EQ(parse_fixed("1." + std::string(5000, '9'), 3), 1999); }
TEST(ParseFixed, RefusesTooLarge) { EXPECT_EQ(parse_fixed("9223372036854775.808", 3), kNone); }
TEST(ParseFixed, RefusesManyDigits) { EXPECT_EQ(parse_fixed(std::string(5000, '9'), 3), kNone); }
TEST(ParseFixed, RefusesExponent) { EXPECT_EQ(parse_fixed("1e3", 3), kNone); }
TEST(ParseFixed, RefusesEmpty) { EXPECT_EQ(parse_fixed("", 3), kNone); }
TEST(ParseFixed, RefusesPointAlone) { EXPECT_EQ(parse_fixed(".", 3), kNone); }
TEST(ParseFixed, RefusesSignAlone) { EXPECT_EQ(parse_fixed("-", 3), kNone); }
TEST(ParseFixed, RefusesTwoPoints) { EXPECT_EQ(parse_fixed("1.2.3", 3), kNone); }
TEST(ParseFixed, RefusesSpaceInside) { EXPECT_EQ(parse_fixed("1 2", 3), kNone); }

TEST(ParseRatio, Percent) { EXPECT_DOUBLE_EQ(*parse_ratio("5%"), 0.05); }
TEST(ParseRatio, PercentWithSpace) { EXPECT_DOUBLE_EQ(*parse_ratio("5 %"), 0.05); }
TEST(ParseRatio, Plain) { EXPECT_DOUBLE_EQ(*parse_ratio("0.05"), 0.05); }
TEST(ParseRatio, RefusesPercentAlone) { EXPECT_EQ(parse_ratio("%"), kNone); }
TEST(ParseRatio, RefusesInfinity) { EXPECT_EQ(parse_ratio("inf"), kNone); }

TEST(ParseDuration, Milliseconds) { EXPECT_EQ(parse_duration_ns("10ms"), 10'000'000); }
TEST(ParseDuration, BareNumberIsSeconds) { EXPECT_EQ(parse_duration_ns("2.5"), 2'500'000'000); }
TEST(ParseDuration, SpaceBeforeTheUnit) { EXPECT_EQ(parse_duration_ns("3 us"), 3000); }
TEST(ParseDuration, MicrosecondsWithEitherMu) {
  EXPECT_EQ(parse_duration_ns("3\xc2\xb5s"), 3000);
  EXPECT_EQ(parse_duration_ns("3 \xce\xbcs"), 3000);
}
TEST(ParseDuration, Days) { EXPECT_EQ(parse_duration_ns("2d"), 172'800'000'000'000); }
TEST(ParseDuration, RefusesUnknownUnit) { EXPECT_EQ(parse_duration_ns("3 weeks"), kNone); }
TEST(ParseDuration, RefusesUnitAlone) { EXPECT_EQ(parse_duration_ns("ms"), kNone); }
TEST(ParseDuration, RefusesOverflow) { EXPECT_EQ(parse_duration_ns("1e30 d"), kNone); }

TEST(ParseBytes, Binary) { EXPECT_EQ(parse_bytes("4GiB"), 4LL << 30); }
TEST(ParseBytes, Decimal) { EXPECT_EQ(parse_bytes("1.5 MB"), 1'500'000); }
TEST(ParseBytes, BareNumber) { EXPECT_EQ(parse_bytes("17"), 17); }
TEST(ParseBytes, RefusesUnknownUnit) { EXPECT_EQ(parse_bytes("4 gb"), kNone); }
TEST(ParseBytes, RefusesOverflow) { EXPECT_EQ(parse_bytes("99999999 TiB"), kNone); }

TEST(Format, Durations) {
  EXPECT_EQ(format_duration(12), "12 ns");
  EXPECT_EQ(format_duration(3210), "3.21 \u00B5s");
  EXPECT_EQ(format_duration(32.1e6), "32.1 ms");
  EXPECT_EQ(format_duration(321e6), "321 ms");
  EXPECT_EQ(format_duration(90e9), "90.0 s");
  EXPECT_EQ(format_duration(-3210), "-3.21 \u00B5s");
}
TEST(Format, DurationRollsOverToTheNextUnit) { EXPECT_EQ(format_duration(999.9e3), "1.00 ms"); }
TEST(Format, Bytes) { EXPECT_EQ(format_bytes(1536), "1.50 KiB"); }
TEST(Format, BytesRollOverToTheNextUnit) { EXPECT_EQ(format_bytes(1048575), "1.00 MiB"); }
TEST(Format, Percent) { EXPECT_EQ(format_percent(0.1234), "12.3 %"); }
TEST(Format, ConfidenceNeverRoundsToCertainty) {
  EXPECT_EQ(format_confidence(0.87), "87 %");
  EXPECT_EQ(format_confidence(0.997), "> 99 %");
  EXPECT_EQ(format_confidence(0.002), "< 1 %");
  EXPECT_EQ(format_confidence(1), "100 %");
  EXPECT_EQ(format_confidence(0), "0 %");
}
TEST(Format, SignedPercent) {
  EXPECT_EQ(format_signed_percent(0.1234), "+12.3 %");
  EXPECT_EQ(format_signed_percent(-0.1234), "-12.3 %");
  EXPECT_EQ(format_signed_percent(8.99), "+899 %");
  EXPECT_EQ(format_signed_percent(9), "10.0 times");
  EXPECT_EQ(format_signed_percent(505.15), "506 times");
}
TEST(Format, SignedDuration) {
  EXPECT_EQ(format_signed_duration(1500), "+1.50 \u00B5s");
  EXPECT_EQ(format_signed_duration(-1500), "-1.50 \u00B5s");
}
TEST(Format, Count) { EXPECT_EQ(format_count(1234567), "1,234,567"); }
TEST(Format, NegativeCount) { EXPECT_EQ(format_count(-1234), "-1,234"); }
TEST(Format, LargeCount) { EXPECT_EQ(format_count(12.3e6), "12.3 M"); }

}  // namespace
}  // namespace aaco::core
