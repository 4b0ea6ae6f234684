#include "analytics/envelope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace aaco::analytics::roofline {
namespace {

using testing::HasSubstr;

struct World {
  std::vector<double> flops_per_s = {1e12};
  std::vector<double> bytes_per_s = {1e11};
  double spread = 0.2;              // mean of log(roof / reached), of an exponential distribution
  double least = 0.1, most = 1000;  // intensities
};

// Runs of kernels of random intensity and size that stay beneath known roofs.
std::vector<EnvelopePoint> sample(const World& world, std::size_t runs, std::size_t kernels, std::uint64_t seed) {
  core::Random random(seed);
  std::vector<EnvelopePoint> points;
  for (std::size_t run = 0; run < runs; ++run)
    for (std::size_t i = 0; i < kernels; ++i) {
      EnvelopePoint point;
      point.run = run;
      point.type = random.below(world.flops_per_s.size());
      point.level = random.below(world.bytes_per_s.size());
      point.bytes = 1e6 * std::exp(random.uniform());
      point.flops = point.bytes * world.least * std::pow(world.most / world.least, random.uniform());
      const double ideal = std::max(point.flops / world.flops_per_s[point.type], point.bytes / world.bytes_per_s[point.level]);
      point.time_ns = 1e9 * ideal * std::exp(-world.spread * std::log(1 - random.uniform()));
      points.push_back(point);
    }
  return points;
}

Envelope fit(const World& world, std::size_t runs, std::size_t kernels, std::uint64_t seed = 7) {
  return fit_envelope(sample(world, runs, kernels, seed), world.flops_per_s.size(), world.bytes_per_s.size());
}

TEST(Envelope, KnownRoofsAreFound) {
  const World world;
  const Envelope envelope = fit(world, 12, 60);
  ASSERT_TRUE(envelope.compute[0].per_second && envelope.memory[0].per_second);
  EXPECT_NEAR(*envelope.compute[0].per_second / 1e12, 1, 0.05);
  EXPECT_NEAR(*envelope.memory[0].per_second / 1e11, 1, 0.05);
  EXPECT_EQ(envelope.runs, 12U);
  EXPECT_EQ(envelope.points, 720U);
  EXPECT_NEAR(envelope.above_ratio, 0.05, 0.015);
  EXPECT_LE(envelope.compute[0].ci95->low, *envelope.compute[0].per_second);
  EXPECT_GE(envelope.compute[0].ci95->high, *envelope.compute[0].per_second);
}

TEST(Envelope, EachTypeAndLevelHasItsOwnRoof) {
  World world;
  world.flops_per_s = {1e12, 4e12};
  world.bytes_per_s = {1e11, 5e11};
  const Envelope envelope = fit(world, 10, 200);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(envelope.compute[i].per_second && envelope.memory[i].per_second)
        << i << envelope.compute[i].reason << ", " << envelope.memory[i].reason;
    EXPECT_NEAR(*envelope.compute[i].per_second / world.flops_per_s[i], 1, 0.06) << i;
    EXPECT_NEAR(*envelope.memory[i].per_second / world.bytes_per_s[i], 1, 0.06) << i;
  }
}

// The interval is of the quantile of ever more runs, which a large sample shows.
TEST(Envelope, IntervalCoversRoofOfLargerSample) {
  const World world;
  const Envelope truth = fit(world, 400, 60, 1);
  int compute = 0, memory = 0;
  constexpr int kTries = 100;
  EnvelopeOptions options;
  options.replicates = 200;
  for (int i = 0; i < kTries; ++i) {
    const Envelope one = fit_envelope(sample(world, 10, 60, 1000 + static_cast<std::uint64_t>(i)), 1, 1, options);
    const auto holds = [](const ReachedRoof& roof, const ReachedRoof& of) {
      return roof.per_second && roof.ci95->low <= *of.per_second && *of.per_second <= roof.ci95->high;
    };
    compute += holds(one.compute[0], truth.compute[0]) ? 1 : 0;
    memory += holds(one.memory[0], truth.memory[0]) ? 1 : 0;
  }
  EXPECT_GE(compute, 88);
  EXPECT_GE(memory, 88);
}

TEST(Envelope, OutlierMovesOnlyTheHighestPoint) {
  const World world;
  auto points = sample(world, 12, 60, 7);
  const Envelope before = fit_envelope(points, 1, 1);
  points[5].time_ns /= 1000;
  const Envelope after = fit_envelope(points, 1, 1);
  EXPECT_NEAR(*after.compute[0].per_second / *before.compute[0].per_second, 1, 0.02);
  EXPECT_NEAR(*after.memory[0].per_second / *before.memory[0].per_second, 1, 0.02);
  EXPECT_GT(std::max(after.compute[0].highest / before.compute[0].highest, after.memory[0].highest / before.memory[0].highest),
            5);
}

TEST(Envelope, LongAndShortRunsWeighEqually) {
  const World world;
  auto points = sample(world, 12, 60, 7);
  const Envelope before = fit_envelope(points, 1, 1);
  for (EnvelopePoint& point : points)
    if (point.run == 3) point.flops *= 1e6, point.bytes *= 1e6, point.time_ns *= 1e6;
  const Envelope after = fit_envelope(points, 1, 1);
  EXPECT_NEAR(*after.compute[0].per_second / *before.compute[0].per_second, 1, 1e-9);
  EXPECT_NEAR(after.memory[0].ci95->low / before.memory[0].ci95->low, 1, 1e-9);
}

TEST(Envelope, DoesNotFitUnreachedRoofs) {
  World streaming;
  streaming.most = 1;  // flop/byte; the ridge is at 10
  const Envelope memory = fit(streaming, 12, 60);
  EXPECT_FALSE(memory.compute[0].per_second);
  EXPECT_THAT(memory.compute[0].reason, HasSubstr("limited by this roof"));
  EXPECT_NEAR(*memory.memory[0].per_second / 1e11, 1, 0.05);
  World computing;
  computing.least = 100;
  const Envelope compute = fit(computing, 12, 60);
  EXPECT_FALSE(compute.memory[0].per_second);
  EXPECT_NEAR(*compute.compute[0].per_second / 1e12, 1, 0.05);
  EXPECT_GT(compute.memory[0].highest, 0);
}

// Whatever the efficiency, a roof that no work came near seldom seems to be there, and then as one that was reached.
TEST(Envelope, FalseRoofsAreRare) {
  World streaming;
  streaming.most = 1;
  int seen = 0;
  constexpr int kTries = 60;
  for (int i = 0; i < kTries; ++i) {
    streaming.spread = 0.1 + 0.02 * i;
    EnvelopeOptions options;
    options.replicates = 1;
    const auto runs = static_cast<std::size_t>(6 + i);
    const Envelope one = fit_envelope(sample(streaming, runs, 60, 5000 + static_cast<std::uint64_t>(i)), 1, 1, options);
    seen += one.compute[0].per_second ? 1 : 0;
    EXPECT_TRUE(one.memory[0].per_second);
  }
  EXPECT_LE(seen, 3);
}

TEST(Envelope, PureDataMovementYieldsBandwidth) {
  const World world;
  auto points = sample(world, 12, 60, 7);
  for (EnvelopePoint& point : points)
    if (point.flops / point.bytes < 10) point.flops = 0;
  const Envelope envelope = fit_envelope(points, 1, 1);
  EXPECT_NEAR(*envelope.memory[0].per_second / 1e11, 1, 0.05);
  EXPECT_NEAR(*envelope.compute[0].per_second / 1e12, 1, 0.05);
}

TEST(Envelope, FewRunsAreRefusedWithTheReason) {
  const World world;
  for (const std::size_t runs : {1U, 2U, 5U}) {
    const Envelope envelope = fit(world, runs, 100);
    EXPECT_FALSE(envelope.fitted()) << runs;
    EXPECT_THAT(envelope.compute[0].reason, HasSubstr("needs at least 6")) << runs;
    EXPECT_GT(envelope.compute[0].highest, 0) << runs;
    EXPECT_FALSE(envelope.compute[0].ci95) << runs;
  }
  EXPECT_TRUE(fit(world, 6, 100).fitted());
}

TEST(Envelope, FewPointsAreRefusedWithTheReason) {
  const World world;
  const Envelope envelope = fit(world, 8, 4);
  EXPECT_FALSE(envelope.fitted());
  EXPECT_THAT(envelope.compute[0].reason, HasSubstr("quantile needs at least 20"));
  // A single kernel has nearly all the time: sixty points of it are worth few.
  auto points = sample(world, 8, 60, 7);
  for (std::size_t i = 0; i < points.size(); i += 60) {
    points[i].flops *= 1e4, points[i].bytes *= 1e4, points[i].time_ns *= 1e4;
  }
  const Envelope uneven = fit_envelope(points, 1, 1);
  EXPECT_FALSE(uneven.compute[0].per_second && uneven.memory[0].per_second);
}

TEST(Envelope, IgnoresWorkWithoutTimeOrSize) {
  const World world;
  auto points = sample(world, 12, 60, 7);
  const Envelope before = fit_envelope(points, 1, 1);
  for (const EnvelopePoint& odd : {EnvelopePoint{40, 0, 0, 1e9, 1e6, 0}, EnvelopePoint{41, 0, 0, 0, 0, 1e6},
                                   EnvelopePoint{42, 0, 0, -1, 1e6, 1e6}, EnvelopePoint{43, 0, 0, NAN, 1e6, 1e6},
                                   EnvelopePoint{44, 0, 0, 1e9, INFINITY, 1e6}, EnvelopePoint{45, 0, 0, 1e9, 1e6, NAN}})
    points.push_back(odd);
  const Envelope after = fit_envelope(points, 1, 1);
  EXPECT_EQ(after.runs, 12U);
  EXPECT_EQ(after.points, before.points);
  EXPECT_EQ(after.compute[0].per_second, before.compute[0].per_second);
}

TEST(Envelope, NoEnvelopeWithoutWork) {
  const Envelope none = fit_envelope({}, 2, 1);
  EXPECT_FALSE(none.fitted());
  EXPECT_EQ(none.compute.size(), 2U);
  EXPECT_EQ(none.compute[1].reason, "no run has this kind of work");
  EXPECT_EQ(none.runs, 0U);
}

TEST(Envelope, RareTypeDoesNotAffectOthers) {
  World world;
  world.flops_per_s = {1e12, 4e12};
  auto points = sample(world, 12, 120, 7);
  std::erase_if(points, [](const EnvelopePoint& point) { return point.type == 1 && point.run > 1; });
  const Envelope envelope = fit_envelope(points, 2, 1);
  EXPECT_NEAR(*envelope.compute[0].per_second / 1e12, 1, 0.05);
  EXPECT_FALSE(envelope.compute[1].per_second);
  EXPECT_THAT(envelope.compute[1].reason, HasSubstr("2 runs have"));
}

TEST(UpperHull, JoinsTheHighestPoints) {
  const auto point = [](double intensity, double rate) {
    return EnvelopePoint{0, 0, 0, intensity * 1e6, 1e6, intensity * 1e15 / rate};
  };
  const auto hull = upper_hull({point(1, 10), point(10, 100), point(10, 20), point(100, 100), point(30, 50), point(3, 12)}, 0);
  ASSERT_EQ(hull.size(), 3U);
  EXPECT_NEAR(hull[0].intensity, 1, 1e-9);
  EXPECT_NEAR(hull[1].flops_per_s, 100, 1e-6);
  EXPECT_NEAR(hull[2].intensity, 100, 1e-9);
  EXPECT_EQ(upper_hull({point(1, 10), point(1, 30)}, 0).size(), 1U);
  EXPECT_TRUE(upper_hull({point(1, 10)}, 1).empty());
  EXPECT_TRUE(upper_hull({{0, 0, 0, 0, 1e6, 1}}, 0).empty()) << "what only moves has no place on the chart";
}

}  // namespace
}  // namespace aaco::analytics::roofline
