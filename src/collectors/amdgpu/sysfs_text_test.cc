#include "collectors/amdgpu/sysfs_text.h"

#include <gtest/gtest.h>

namespace aaco::collectors::amdgpu {
namespace {

using namespace std::string_view_literals;

TEST(Level, ReadsNumbersAlsoPaddedAndWithAFraction) {
  EXPECT_EQ(parse_level("37\n"), 37);
  EXPECT_EQ(parse_level("0\n\0\0\0"sv), 0);
  EXPECT_EQ(parse_level("\0\0 12.5\n"sv), 12.5);
  EXPECT_EQ(parse_level("-3\n"), -3);
}
TEST(Level, RefusesWords) {
  for (const auto text : {""sv, "\n"sv, "N/A\n"sv, "\0\0\0"sv, "nan"sv, "inf"sv, "1e999"sv, "unknown"sv})
    EXPECT_EQ(parse_level(text), std::nullopt) << text;
}
TEST(Clock, UsesTheMarkedLevel) {
  EXPECT_EQ(parse_current_clock("0: 132Mhz \n1: 2100Mhz *\n"), 2100e6);
  EXPECT_EQ(parse_current_clock("S: 19Mhz *\n0: 500MHz\n"), 19e6);
  EXPECT_EQ(parse_current_clock("0: 255Mhz\n1: 0Mhz *\n2: 1841Mhz\n"), 0);
  EXPECT_EQ(parse_current_clock("0: 2.5GT/s, x1 81Mhz \n1: 16.0GT/s, x8 306Mhz *\n"), 306e6);
}
TEST(Clock, RefusesTextWithoutMarkedLevel) {
  for (const char* text :
       {"", "\n", "0: 800Mhz\n", "N/A *", "0: *\n", "0: Mhz *", "*", "0: 8.0GT/s, x16 *\n", "1: 99999999999999999999Mhz *"})
    EXPECT_EQ(parse_current_clock(text), std::nullopt) << text;
}
TEST(Clock, ListsEveryLevel) {
  EXPECT_EQ(parse_clock_levels("0: 400Mhz *\n1: 800Mhz\nOD_RANGE:\n"), (std::vector<double>{400e6, 800e6}));
}
TEST(Link, ReadsGigatransfers) {
  EXPECT_EQ(parse_link_speed("16.0 GT/s PCIe\n"), 16e9);
  for (const char* text : {"", "Unknown", "16.0", "0 GT/s", "-1 GT/s", "16 MB/s"})
    EXPECT_EQ(parse_link_speed(text), std::nullopt) << text;
}
TEST(Errors, ReadsBothCounts) {
  EXPECT_EQ(parse_uncorrectable("ue: 1\nce: 5\nde: 0\n"), 1);
  EXPECT_EQ(parse_correctable("ue: 1\nce: 5\nde: 0\n"), 5);
  for (const char* text : {"", "ce", "ce:", "ce: x", "ce: -1"}) EXPECT_EQ(parse_correctable(text), std::nullopt) << text;
}

}  // namespace
}  // namespace aaco::collectors::amdgpu
