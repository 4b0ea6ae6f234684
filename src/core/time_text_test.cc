#include "core/time_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace aaco::core {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t seconds(std::string_view text) { return parse_time_text(text).value_or(-1) / kSecond; }

TEST(TimeText, Dates) {
  EXPECT_EQ(seconds("1970-01-02"), 86400);
  EXPECT_EQ(seconds("2024-02-29"), 1709164800);
  EXPECT_EQ(seconds(" 2024.02.29 "), 1709164800);
}
TEST(TimeText, Times) {
  EXPECT_EQ(seconds("2026-11-21T08:15:30Z"), 1795248930);
  EXPECT_EQ(seconds("2026-11-21 08:15"), 1795248900);
  EXPECT_EQ(parse_time_text("1970-01-01T00:00:01.25Z"), kSecond * 5 / 4);
}
TEST(TimeText, Zones) {
  EXPECT_EQ(seconds("2024.01.01 3:00:00 +0100"), 1704074400);
  EXPECT_EQ(seconds("2025-01-22T00:32:16+01:00"), 1737502336);
  EXPECT_EQ(seconds("2025-01-21T22:32:16-01:00"), 1737502336);
}
TEST(TimeText, RejectsInvalidTimes) {
  for (const char* text :
       {"", "now", "12345", "2024-13-01", "2023-02-29", "2024-01-01T", "2024-01-01 25:00:00", "2024-01-01 10:61",
        "2024-01-01 10:00:00 CET", "2024-01-01 10:00:00 +1", "2024-01-01x", "99999-01-01", "2024-01-01 10:00:00."})
    EXPECT_FALSE(parse_time_text(text)) << text;
}
TEST(Epoch, InAnyUnit) {
  EXPECT_EQ(parse_epoch(1609466400), 1609466400 * kSecond);
  EXPECT_EQ(parse_epoch(1737502817456.0), 1737502817456 * (kSecond / 1000));
}
TEST(Epoch, RefusesOtherNumbers) {
  for (const double number : {0.0, -5.0, 154023.0, 1e30, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(parse_epoch(number)) << number;
}

}  // namespace
}  // namespace aaco::core
