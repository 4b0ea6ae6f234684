#include "report/svg/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/render.h"
#include "report/render_svg.h"
#include "report/svg/axes.h"

namespace aaco::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(SvgNumber, AtMostTwoDecimals) { EXPECT_EQ(svg_number(1.005), "1"); }
TEST(SvgNumber, NoMinusZero) { EXPECT_EQ(svg_number(-0.001), "0"); }
TEST(SvgNumber, NotFiniteIsZero) { EXPECT_EQ(svg_number(kNaN), "0"); }

TEST(Svg, TextIsEscaped) {
  Svg svg(10, 10, "a<b", "c&d");
  svg.text(0, 0, "\"</text>\x1b");
  const std::string out = svg.finish();
  EXPECT_NE(out.find("<title>a&lt;b</title>"), std::string::npos);
  EXPECT_NE(out.find("&quot;&lt;/text&gt; </text>"), std::string::npos);
}
TEST(Svg, NegativeSizesAreNone) {
  Svg svg(10, 10, "", "");
  svg.rect(0, 0, -5, 3, "#000000");
  EXPECT_NE(svg.finish().find("width=\"0\" height=\"3\""), std::string::npos);
}
TEST(Svg, SlotsBeyondTheLastAreGrey) { EXPECT_EQ(Svg::slot_colour(99), Svg::slot_colour(7)); }

TEST(AxisTicks, RoundSteps) { EXPECT_EQ(axis_ticks({0, 10, 0, 100, false}, 5), (std::vector<double>{0, 2, 4, 6, 8, 10})); }
TEST(AxisTicks, RoundInTheScaledUnit) { EXPECT_EQ(axis_ticks({0, 60e9, 0, 1, false}, 3, 1e9).size(), 4U); }
TEST(AxisTicks, Decades) { EXPECT_EQ(axis_ticks({0.5, 200, 0, 1, true}, 5), (std::vector<double>{1, 10, 100})); }
TEST(AxisTicks, EmptyAxisHasOne) { EXPECT_EQ(axis_ticks({3, 3, 0, 1, false}, 5), (std::vector<double>{3})); }

TEST(Extent, IgnoresWhatIsNotFinite) { EXPECT_EQ(extent_of({kNaN, 2, INFINITY, 1})->high, 2); }
TEST(Extent, NothingFinite) { EXPECT_FALSE(extent_of({kNaN})); }
TEST(Padded, SingleValueGetsRoom) { EXPECT_LT(padded({5, 5}).low, 5); }
TEST(Padded, WhatIsNeverNegativeHasNoAxisBelowZero) {
  EXPECT_EQ(padded({0.1, 10}).low, 0);
  EXPECT_EQ(padded({-10, -0.1}).high, 0);
  EXPECT_LT(padded({-1, 1}).low, -1);
}
TEST(Padded, ZeroGetsRoom) { EXPECT_GT(padded({0, 0}).high, 0); }

TEST(LinePath, GapForWhatIsNotFinite) {
  const Axis x{0, 4, 0, 4, false}, y{0, 1, 1, 0, false};
  EXPECT_EQ(line_path({0, 1, 2, 3}, {0, 0, kNaN, 1}, x, y), "M0 1L0 1L1 1M3 0L3 0");
}
TEST(LinePath, OneColumnKeepsItsExtremes) {
  const Axis x{0, 100, 0, 1, false}, y{0, 10, 10, 0, false};
  EXPECT_EQ(line_path({0, 1, 2, 3}, {5, 9, 1, 5}, x, y), "M0 5L0 1L0 9L0 5");
}
TEST(LinePath, Nothing) { EXPECT_EQ(line_path({}, {}, {}, {}), ""); }

TEST(FitPixels, CutsTheMiddle) { EXPECT_EQ(fit_pixels("abcdefghij", 36, 12), "ab\u2026ij"); }
TEST(FitPixels, NoRoom) { EXPECT_EQ(fit_pixels("abc", -1), ""); }

TEST(RenderSvg, NoDataIsNotFound) {
  for (const auto plot : kSvgPlots) EXPECT_EQ(render_svg({}, plot).error().code, core::ErrorCode::not_found) << plot;
}
TEST(RenderSvg, UnknownPlotNamesTheNearest) {
  EXPECT_NE(render_svg({}, "flames").error().message.find("'flame'"), std::string::npos);
}
TEST(RenderSvg, WaitsAreDrawnByTheirTimes) {
  using Frame = OperatingSystem::Frame;
  ReportModel model;
  model.sections.operating_system = OperatingSystem{
      1,
      {},
      {},
      Frame{
          "all threads", 4e9, false, {{"main", 3e9, false, {{"</title>]]>futex_wait", 3e9, true, {}}}}, {"io", 1e9, false, {}}}}};
  const std::string svg = render_svg(model, "waits").value();
  EXPECT_NE(svg.find("Off-CPU flame graph"), std::string::npos);
  EXPECT_NE(svg.find("<title>main: 3"), std::string::npos);
  EXPECT_NE(svg.find(" of the time off the CPU</title>"), std::string::npos);
  EXPECT_EQ(svg.find("</title>]]>"), std::string::npos);
  EXPECT_NE(svg.find("<script>"), std::string::npos) << "it can be searched";
}
TEST(RenderSvg, WaitsOfASessionWithoutStacksAreRefused) {
  ReportModel model;
  model.sections.operating_system = OperatingSystem{1, {}, {}, {}};
  EXPECT_EQ(render_svg(model, "waits").error().code, core::ErrorCode::not_found);
}
TEST(RenderSvg, HistogramOfOneValue) {
  ReportModel model;
  model.histogram = {{5e6, 5e6, 3}};
  EXPECT_TRUE(render_svg(model, "distribution"));
}
TEST(RenderSvg, RoofsWithoutPointsDraw) {
  ReportModel model;
  model.roofline = Roofline{"", {}, {{"peak", Roof::Kind::compute, 1e12, ""}, {"memory", Roof::Kind::memory, 1e11, ""}}, {}};
  EXPECT_TRUE(render_svg(model, "roofline"));
}
TEST(RenderSvg, RoofsAreNamedApartAndDrawnByTheirBasis) {
  using Kind = Roof::Kind;
  using Basis = Roof::Basis;
  ReportModel model;
  model.roofline = Roofline{"",
                            {},
                            {{"bf16", Kind::compute, 989e12, ""},
                             {"bf16, measured", Kind::compute, 950e12, "", Basis::measured},
                             {"bf16, reached", Kind::compute, 940e12, "", Basis::reached},
                             {"HBM", Kind::memory, 3.35e12, ""},
                             {"HBM, measured", Kind::memory, 3.3e12, "", Basis::measured}},
                            {{"gemm", "gemm", 1e12, 1e9, 2e6}}};
  const std::string svg = render_svg(model, "roofline").value();
  for (const char* name : {">bf16 989", ">bf16, measured 950", ">bf16, reached 940", ">HBM 3.35", "2 3", "12 3 2 3"})
    EXPECT_NE(svg.find(name), std::string::npos) << name;
  EXPECT_EQ(svg.find("HBM, measured"), std::string::npos) << "it nearly coincides with the stated one, which has the name";
}
TEST(RenderSvg, ARooflineWithoutMemoryIsRefused) {
  ReportModel model;
  model.roofline = Roofline{"", {}, {{"peak", Roof::Kind::compute, 1e12, ""}}, {}};
  EXPECT_FALSE(render_svg(model, "roofline"));
}

}  // namespace
}  // namespace aaco::report
