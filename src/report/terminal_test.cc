#include "report/terminal.h"

#include <gtest/gtest.h>

#include <limits>

namespace aaco::report {
namespace {

TEST(Printable, KeepsOrdinaryText) { EXPECT_EQ(printable("µs 漢字 a-b"), "µs 漢字 a-b"); }
TEST(Printable, EscapeSequencesLoseTheirEscape) { EXPECT_EQ(printable("\x1b[31mred\x07"), " [31mred "); }
TEST(Printable, ControlsOfTheUpperHalfToo) {
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            " 31m");
}
TEST(Printable, NulBecomesASpace) { EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a b"); }
TEST(Printable, InvalidBytesAreReplaced) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\uFFFDb");
}
TEST(Printable, TruncatedCharacterIsReplaced) { EXPECT_EQ(printable("a\xE2\x82"), "a\uFFFD\uFFFD"); }
TEST(Printable, OverlongFormIsReplaced) { EXPECT_EQ(printable("\xC0\xAF"), "\uFFFD\uFFFD"); }
TEST(Printable, SurrogateIsReplaced) { EXPECT_EQ(printable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD"); }
TEST(Printable, ReorderingMarksAreReplaced) { EXPECT_EQ(printable("a\u202Eb"), "a\uFFFDb"); }
TEST(Printable, AsciiHasNoOther) { EXPECT_EQ(printable("1 µs", true), "1 us"); }

TEST(DisplayWidth, WideCharactersTakeTwoColumns) { EXPECT_EQ(display_width("漢a"), 3); }
TEST(DisplayWidth, CombiningMarksTakeNone) { EXPECT_EQ(display_width("e\u0301"), 1); }

TEST(Fit, ShortTextStays) { EXPECT_EQ(fit("conv1", 5), "conv1"); }
TEST(Fit, LosesItsMiddle) { EXPECT_EQ(fit("resnet/stage1/conv1", 9), "resn\u2026onv1"); }
TEST(Fit, AsciiEllipsis) { EXPECT_EQ(fit("resnet/stage1/conv1", 9, true), "res...nv1"); }
TEST(Fit, NeverCutsACharacter) { EXPECT_EQ(fit("漢字漢字漢字", 5), "漢\u2026字"); }
TEST(Fit, NoRoomForAnEllipsis) { EXPECT_EQ(fit("abcdef", 2), "ab"); }
TEST(Fit, NoRoomAtAll) { EXPECT_EQ(fit("abc", 0), ""); }
TEST(FitLeft, Pads) { EXPECT_EQ(fit_left("ab", 4), "ab  "); }
TEST(FitRight, Pads) { EXPECT_EQ(fit_right("漢", 4), "  漢"); }

TEST(Wrap, BreaksAtSpaces) { EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"})); }
TEST(Wrap, LongWordsAreCut) { EXPECT_EQ(wrap("ab cdefgh", 4), (std::vector<std::string>{"ab", "cdef", "gh"})); }
TEST(Wrap, EmptyTextYieldsNoLines) { EXPECT_TRUE(wrap("  ", 10).empty()); }
TEST(Wrap, CharacterWiderThanTheLineStays) { EXPECT_EQ(wrap("漢", 1), (std::vector<std::string>{"漢"})); }

TEST(Bar, InEighths) { EXPECT_EQ(bar(0.5, 3), "\u2588\u258C"); }
TEST(Bar, NothingForZero) { EXPECT_EQ(bar(0, 10), ""); }
TEST(Bar, NanYieldsAnEmptyBar) { EXPECT_EQ(bar(std::numeric_limits<double>::quiet_NaN(), 10), ""); }
TEST(Bar, ClampedAboveOne) { EXPECT_EQ(bar(7, 2, true), "##"); }
TEST(Bar, ATraceIsVisible) { EXPECT_EQ(bar(1e-9, 10, true), "#"); }

TEST(Sparkline, FromLowToHigh) { EXPECT_EQ(sparkline(std::vector<double>{0, 1}, 10, true), "_#"); }
TEST(Sparkline, KeepsThePeakOfAColumn) { EXPECT_EQ(sparkline(std::vector<double>{0, 0, 9, 0}, 2, true), "_#"); }
TEST(Sparkline, NanYieldsAGap) {
  EXPECT_EQ(sparkline(std::vector<double>{0, std::numeric_limits<double>::quiet_NaN(), 1}, 3, true), "_ #");
}
TEST(Sparkline, ConstantSeriesIsLow) { EXPECT_EQ(sparkline(std::vector<double>{5, 5}, 2, true), "__"); }
TEST(Sparkline, NoValues) { EXPECT_EQ(sparkline(std::vector<double>{}, 10), ""); }
TEST(Sparkline, NoRoom) { EXPECT_EQ(sparkline(std::vector<double>{1, 2}, 0), ""); }

}  // namespace
}  // namespace aaco::report
