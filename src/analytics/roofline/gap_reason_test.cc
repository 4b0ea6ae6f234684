#include "analytics/gap_reason.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::analytics::roofline {
namespace {

using testing::HasSubstr;
using testing::Not;

// Attainable in 100 us, predicted to take 160 to 250 us, measured 200 us.
NodeGap node(double measured_ns = 200'000) {
  NodeGap gap;
  gap.measured_ns = measured_ns;
  gap.attainable_ns = 100'000;
  gap.predicted_lower_ns = 160'000;
  gap.predicted_upper_ns = 250'000;
  return gap;
}

NodeGap shaped(double tile_ratio, double wave_ratio) {
  NodeGap gap = node();
  gap.tile_ratio = tile_ratio;
  gap.wave_ratio = wave_ratio;
  return gap;
}

// Ten calls of 200 us, one kernel each.
SiteGap site(double call_ns = 200'000) {
  SiteGap gap;
  gap.count = gap.kernels = 10;
  gap.measured_ns = 10 * call_ns;
  gap.attainable_ns = 10 * 100'000;
  gap.predicted_lower_ns = 160'000;
  gap.predicted_upper_ns = 250'000;
  gap.floor_ns = 2'000;
  return gap;
}

SiteGap with_kernels(double kernels, double needed) {
  SiteGap gap = site();
  gap.kernels = kernels;
  gap.needed = needed;
  return gap;
}

SiteGap shaped_site(double tile_ratio, double wave_ratio) {
  SiteGap gap = site();
  gap.tile_ratio = tile_ratio;
  gap.wave_ratio = wave_ratio;
  return gap;
}

TEST(Ceiling, IsTheLongerOfBothTimes) {
  EXPECT_EQ(ceiling_of(2, 1), "compute");
  EXPECT_EQ(ceiling_of(1, 2), "memory");
  EXPECT_EQ(ceiling_of(0, 0), "memory");
}

TEST(NodeGap, FasterThanTheCeilingYieldsZeroGap) {
  EXPECT_THAT(reason_of(node(99'000)).text, HasSubstr("faster than the ceiling"));
  EXPECT_THAT(reason_of(node(99'000)).text, Not(HasSubstr("predicted"))) << "the ceiling already says it";
  EXPECT_THAT(reason_of(node(100'000)).text, Not(HasSubstr("faster than the ceiling")));
}

TEST(NodeGap, CloseToItsCeilingFromSixTenths) {
  NodeGap compute = node(100'000 / kCloseToCeiling);
  compute.ceiling = "compute";
  EXPECT_EQ(reason_of(compute).text, "close to the compute ceiling");
  EXPECT_THAT(reason_of(node(1.01 * 100'000 / kCloseToCeiling)).text, Not(HasSubstr("close to")));
}

TEST(NodeGap, SmallNodesAreOverheadByTheirOwnDuration) {
  NodeGap small = node(19'000);
  small.attainable_ns = 1'000;
  EXPECT_THAT(reason_of(small).text, HasSubstr("too small"));
  small.measured_ns = 21'000;
  EXPECT_THAT(reason_of(small).text, Not(HasSubstr("too small")));
  small.count = 2;
  EXPECT_THAT(reason_of(small).text, HasSubstr("too small")) << "two executions of 10.5 us each";
  small.count = 0;
  EXPECT_THAT(reason_of(small).text, Not(HasSubstr("too small"))) << "a count below one counts as one";
}

TEST(NodeGap, ShapeIsBlamedBeforeTheKernel) {
  EXPECT_EQ(reason_of(shaped(0.25, 1)).text, "its shape wastes 75 % of the vector lanes");
  EXPECT_EQ(reason_of(shaped(1, 0.5)).text, "its shape uses only 50 % of the cores");
  EXPECT_THAT(reason_of(shaped(0.5, 0.5)).text, HasSubstr("vector lanes")) << "lanes come first";
  EXPECT_EQ(reason_of(shaped(0.6, 0.6)).text, "the kernel is far below the memory ceiling");
}

TEST(NodeGap, OutsideThePredictionIsASurprise) {
  EXPECT_FALSE(reason_of(node()).surprise);
  EXPECT_FALSE(reason_of(node(160'000)).surprise) << "the bounds belong to the interval";
  EXPECT_FALSE(reason_of(node(250'000)).surprise);
  EXPECT_TRUE(reason_of(node(251'000)).surprise);
  EXPECT_THAT(reason_of(node(251'000)).text, HasSubstr("slower than predicted"));
  EXPECT_TRUE(reason_of(node(159'000)).surprise);
  EXPECT_THAT(reason_of(node(159'000)).text, HasSubstr("faster than predicted"));
}

TEST(NodeGap, OnFewerCoresNothingIsASurprise) {
  NodeGap restricted = node(900'000);
  restricted.comparable = false;
  EXPECT_FALSE(reason_of(restricted).surprise);
  EXPECT_THAT(reason_of(restricted).text, Not(HasSubstr("predicted")));
}

TEST(SiteGap, FasterThanTheDataSheetIsASurpriseWithoutAnEnding) {
  const GapReason fast = reason_of(site(90'000));
  EXPECT_TRUE(fast.surprise);
  EXPECT_THAT(fast.text, HasSubstr("faster than the data sheet roof"));
  EXPECT_THAT(fast.text, Not(HasSubstr("predicted")));
}

TEST(SiteGap, CloseToItsCeilingOrTooSmall) {
  EXPECT_EQ(reason_of(site(166'000)).text, "close to the memory ceiling");
  SiteGap small = site();
  small.floor_ns = 70'000;
  EXPECT_THAT(reason_of(small).text, HasSubstr("too small: kernel start and end"));
  small.floor_ns = 66'000;
  EXPECT_THAT(reason_of(small).text, Not(HasSubstr("too small"))) << "just above three launch floors";
}

TEST(SiteGap, MoreKernelsThanACallNeedsAreNamed) {
  EXPECT_THAT(reason_of(with_kernels(30, 1)).text, HasSubstr("3.0 kernels per call"));
  EXPECT_THAT(reason_of(with_kernels(15, 1)).text, Not(HasSubstr("kernels per call"))) << "half a kernel per call may be chance";
  EXPECT_THAT(reason_of(with_kernels(16, 1)).text, HasSubstr("1.6 kernels per call"));
  EXPECT_THAT(reason_of(with_kernels(30, 3)).text, Not(HasSubstr("kernels per call")));
}

TEST(SiteGap, ShapeIsBlamedBeforeTheKernel) {
  EXPECT_EQ(reason_of(shaped_site(1, 0.5)).text, "its shape fills only 50 % of the compute units");
  EXPECT_EQ(reason_of(shaped_site(0.5, 1)).text, "its shape wastes 50 % of the tiles (padding)");
  EXPECT_THAT(reason_of(shaped_site(0.5, 0.5)).text, HasSubstr("compute units")) << "waves come first";
  EXPECT_EQ(reason_of(shaped_site(0.75, 0.75)).text, "the kernel is far below the memory ceiling");
}

TEST(SiteGap, ThePredictionIsOfOneCall) {
  EXPECT_FALSE(reason_of(site()).surprise) << "ten calls in 2 ms are within 160 to 250 us per call";
  EXPECT_THAT(reason_of(site(260'000)).text, HasSubstr("slower than predicted"));
  EXPECT_THAT(reason_of(site(155'000)).text, HasSubstr("faster than predicted"));
  EXPECT_TRUE(reason_of(site(155'000)).surprise);
}

}  // namespace
}  // namespace aaco::analytics::roofline
