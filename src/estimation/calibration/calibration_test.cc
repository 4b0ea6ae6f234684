#include "estimation/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "core/random.h"
#include "estimation/calibrated.h"
#include "estimation/calibration_file.h"
#include "tests/support/measured_device.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;

TEST(Calibrate, LearnsAttainableRate) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  ASSERT_EQ(fitted.latency.size(), 1U);
  const LatencyModel& model = fitted.latency.front();
  EXPECT_LT(model.quality.mean_error, 0.06);
  EXPECT_EQ(model.quality.sites, 64);
  EXPECT_NEAR(model.ceilings.flops_per_s / 0.7e14, 1, 0.15);
  CalibrationSet set;
  set.add(fitted, device());
  const auto made = estimate({GemmShape{1, 1024, 1536, 1536}, "bf16"}, device(), &set).value();
  EXPECT_EQ(made.level, Level::calibrated);
  EXPECT_NEAR(made.seconds / (2.0 * 1024 * 1536 * 1536 / 0.7e14 + 5e-6), 1, 0.12);
  EXPECT_GE(made.explanation.floor_s, 4e-6);
}

// Of convolutions whose best algorithm was not at hand for a fifth of the rows, which no column tells.
TEST(Calibrate, ConvolutionsFollowTheAlgorithmThatMostRowsHad) {
  core::Random random(3);
  std::vector<Measurement> rows;
  for (std::int64_t c = 32; c <= 512; c *= 2)
    for (std::int64_t k = 32; k <= 512; k *= 2)
      for (std::int64_t n = 1; n <= 64; n *= 2)
        for (const std::int64_t size : {14, 28, 56}) {
          const Kernel kernel{ConvolutionShape{n, c, size, size, k}, "bf16"};
          const Work work = work_of(kernel).value();
          const double best = std::max(work.flops / 0.7e14, work.bytes / 0.8e12) + 5e-6;
          rows.push_back({kernel, best * (random.uniform() < 0.2 ? 2.5 : 1), {}, "table.csv:" + std::to_string(rows.size() + 2)});
        }
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  const Quality& quality = fitted.latency.front().quality;
  EXPECT_EQ(quality.sites, 25);
  EXPECT_LT(quality.median_error, 0.1);  // the mean of the logarithms is 20 % off for most rows
  EXPECT_LT(quality.bias, 0) << "the late rows are not what is estimated";
}

TEST(Calibrate, BoundsHoldOnFreshNoise) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(fitted, device());
  const auto fresh = measured(device(), 7);
  double inside = 0;
  for (const Measurement& row : fresh) {
    const auto made = estimate(row.kernel, device(), &set).value();
    EXPECT_LE(made.lower, made.seconds);
    EXPECT_GE(made.upper, made.seconds);
    if (made.lower <= row.seconds && row.seconds <= made.upper) inside += 1 / static_cast<double>(fresh.size());
  }
  EXPECT_GT(inside, 0.82);
  EXPECT_LT(inside, 0.99);
}

TEST(Calibrate, NeverFasterThanItsCeilings) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  const Ceilings best = fitted.latency.front().ceilings;
  CalibrationSet set;
  set.add(std::move(fitted), device());
  core::Random random(3);
  for (int i = 0; i < 500; ++i) {
    const auto side = [&] { return static_cast<std::int64_t>(1 + random.below(1 << (1 + random.below(16)))); };
    const Kernel kernel{GemmShape{side(), side(), side(), side()}, "bf16"};
    const Work work = work_of(kernel).value();
    const auto made = estimate(kernel, device(), &set).value();
    EXPECT_GE(made.seconds * best.flops_per_s, work.flops * 0.999999);
    EXPECT_GE(made.seconds, best.floor_s);
    EXPECT_LE(made.explanation.efficiency_ratio, 1);
    const auto other = estimate({kernel.shape, "bf16_rows"}, device(), &set).value();
    EXPECT_NEAR(other.explanation.efficiency_ratio,
                std::min(1.0, (std::max(other.explanation.compute_s, other.explanation.memory_s) + best.floor_s) / other.seconds),
                1e-9);
    EXPECT_TRUE(std::isfinite(made.upper));
  }
}

TEST(Calibrate, LateRunsPullLittle) {
  auto rows = measured(device());
  core::Random random(5);
  for (Measurement& row : rows)
    if (random.normal() > 1) row.seconds *= 1.4;  // a sixth of them: the mean logarithm rises by 0.053
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  double sum = 0, count = 0;
  for (std::int64_t n = 96; n <= 6144; n *= 2)
    for (std::int64_t m = 2; m <= 2048; m *= 4, ++count) {
      const Kernel kernel{GemmShape{1, m, n, 1024}, "bf16"};
      const Work work = work_of(kernel).value();
      const double seconds = std::max(work.flops / 0.7e14, work.bytes / (0.8 * device().memory_bytes_per_s)) + 5e-6;
      sum += std::log(estimate(kernel, device(), &set)->seconds / seconds);
    }
  EXPECT_LT(sum / count, 0.035);
}

// Every prompt runs twice, once over all pairs of tokens and once under a window that nothing tells of.
TEST(Calibrate, BoundsOfAttentionReachToWindowedRuns) {
  core::Random random(3);
  std::vector<Measurement> rows;
  for (std::int64_t heads = 1; heads <= 16; ++heads)
    for (std::int64_t tokens = 1024; tokens <= 16384; tokens *= 2) {
      const Kernel kernel{AttentionShape{true, 1, tokens, 0, 4 * heads, heads, 128, "bf16"}, "bf16"};
      const double seconds = (work_of(kernel)->flops / 0.2e14 + 5e-6) * std::exp(0.01 * random.normal());
      rows.push_back({kernel, seconds, {}, "table.csv"});
      rows.push_back({kernel, 0.3 * seconds, {}, "table.csv"});
    }
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  EXPECT_TRUE(fitted.latency.front().bounds.below_ceilings);
  fitted.provenance = {"1.0", "2026-01-01T00:00:00Z", {}, {}};
  const auto read = CalibrationFile::open(core::PositionalBytes::of(to_bytes(fitted), "fitted"));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(read->head().latency.front().bounds.below_ceilings);
  CalibrationSet set;
  set.add(*read, device());
  int inside = 0;
  for (const Measurement& row : rows) {
    const auto made = estimate(row.kernel, device(), &set).value();
    inside += row.seconds >= made.lower && row.seconds <= made.upper ? 1 : 0;
  }
  EXPECT_GE(inside, static_cast<int>(rows.size()) * 85 / 100);
}

TEST(Estimate, AttentionOverAllPairsIsCarriedFromCausalAttention) {
  core::Random random(3);
  std::vector<Measurement> rows;
  const auto time = [](const Kernel& kernel) { return work_of(kernel)->flops / 0.5e14 + 5e-6; };
  for (std::int64_t heads = 1; heads <= 16; ++heads)
    for (std::int64_t tokens = 256; tokens <= 16384; tokens *= 2) {
      const Kernel kernel{AttentionShape{true, 1, tokens, 0, 4 * heads, heads, 128, "bf16"}, "bf16"};
      rows.push_back({kernel, time(kernel) * std::exp(0.01 * random.normal()), {}, "table.csv"});
    }
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(fitted, device());
  AttentionShape shape{true, 1, 8192, 0, 32, 8, 128, "bf16"};
  const LatencyEstimate causal = estimate({shape, "bf16"}, device(), &set).value();
  EXPECT_EQ(causal.level, Level::calibrated);
  shape.causal = false;
  const Kernel encoder{shape, "bf16"};
  const LatencyEstimate all = estimate(encoder, device(), &set).value();
  EXPECT_EQ(all.level, Level::interpolated) << "no such run was measured";
  EXPECT_NEAR(all.seconds / causal.seconds, 2, 0.1) << "twice the pairs";
  EXPECT_NEAR(all.seconds / time(encoder), 1, 0.1);
  EXPECT_GT(all.upper / all.seconds, 1.3);
  EXPECT_THAT(all.explanation.method, testing::HasSubstr("not causal"));
  EXPECT_NEAR(all.explanation.compute_s / causal.explanation.compute_s, 2, 0.01);
  const double explained = std::max(all.explanation.compute_s, all.explanation.memory_s) + all.explanation.floor_s;
  EXPECT_NEAR(all.explanation.efficiency_ratio, std::min(1.0, explained / all.seconds), 1e-9);
  shape.past = -8000;  // queries of an image on the tokens of a prompt: nothing like it was measured
  EXPECT_EQ(estimate({shape, "bf16"}, device(), &set).value().level, Level::theoretical);
}

TEST(Impossible, FasterThanThePeakByMoreThanClocksCan) {
  const Kernel kernel{GemmShape{1, 4096, 4096, 4096}, "bf16"};
  const double at_peak = work_of(kernel)->flops / 1e14;
  const std::vector<Measurement> rows{{kernel, at_peak, {}, "t:2"},
                                      {kernel, at_peak / 1.09, {}, "t:3"},
                                      {kernel, at_peak / 1.11, {}, "t:4"},
                                      {kernel, at_peak / 110, {}, "t:5"}};
  const ImpossibleRows found = impossible_rows(rows, device());
  EXPECT_EQ(found.impossible, (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(found.worst, 3U);
  EXPECT_NEAR(found.worst_times, 100, 1e-6);
}

TEST(Impossible, MeasuredPeakIsNotALimit) {
  const Kernel kernel{GemmShape{1, 4096, 4096, 4096}, "bf16"};
  const double at_peak = work_of(kernel)->flops / 1e14;
  DeviceFacts probed = device();
  probed.measured_peaks = true;
  const std::vector<Measurement> rows{{kernel, at_peak / 2, {}, "table.csv:2"}, {kernel, at_peak / 5, {}, "table.csv:3"}};
  EXPECT_EQ(impossible_rows(rows, device()).count, 2);
  EXPECT_EQ(impossible_rows(rows, probed).impossible, (std::vector<bool>{false, true}));
}

TEST(Impossible, FastAlgorithmsOfConvolutionsAreNot) {
  const auto least_over_peak = [](std::int64_t side) {
    const Kernel kernel{ConvolutionShape{8, 64, 56, 56, 64, side, side}, "bf16"};
    return least_possible_seconds(kernel, device()) / (work_of(kernel)->flops / 1e14);
  };
  EXPECT_NEAR(least_over_peak(1), 1 / 1.1, 1e-9);
  EXPECT_NEAR(least_over_peak(3), 1 / 9.9, 1e-9);  // Winograd's transforms of 4 x 4 outputs save a factor of 4
}

TEST(Impossible, OtherKernelsAreUnknown) {
  EXPECT_EQ(least_possible_seconds({VectorShape{"softmax", 1000, 1000}, "fp32"}, device()), 0);
  EXPECT_EQ(least_possible_seconds({OtherShape{"x", 1e12, 1}, "bf16"}, device()), 0);
  EXPECT_EQ(least_possible_seconds({GemmShape{1, 8, 8, 8}, "fp8"}, device()), 0);  // without a peak for the type
}

TEST(Impossible, FitIsUnchanged) {
  auto rows = measured(device());
  AACO_CALIBRATED(clean, calibrate(rows, device(), quick()));
  rows.insert(rows.begin() + 100, {{GemmShape{1, 8192, 8192, 8192}, "bf16"}, 1e-6, 100.0, "table.csv:1"});
  FittedResiduals residuals;
  const auto fitted = calibrate(rows, device(), quick(), residuals);
  ASSERT_TRUE(fitted) << fitted.error().text();
  EXPECT_EQ(fitted->latency.front().quality.rows, static_cast<std::int64_t>(rows.size()) - 1);
  EXPECT_EQ(to_bytes(*fitted), to_bytes(clean));
  for (const Residual& residual : residuals.latency) EXPECT_NE(residual.row, 100U);
}

TEST(Impossible, MostlyImplausibleClassIsIgnored) {
  auto rows = measured(device());
  AACO_CALIBRATED(clean, calibrate(rows, device(), quick()));
  const std::size_t others = rows.size();
  for (int i = 0; i < 10; ++i)  // of another unit; the small one could be a time
    rows.push_back({{GemmShape{1, i < 8 ? 8192 : 1, 8192, 8192}, "bf16_rows"}, 5e-6, {}, "table.csv:" + std::to_string(i)});
  const ImpossibleRows found = impossible_rows(rows, device());
  EXPECT_EQ(found.count, 8);
  EXPECT_EQ(found.untrusted, (std::map<std::string, std::int64_t>{{class_of(rows[others].kernel), 10}}));
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  EXPECT_EQ(to_bytes(fitted), to_bytes(clean));
}

TEST(Impossible, OnlyImplausibleRowsAreAnError) {
  std::vector<Measurement> rows;
  for (int i = 0; i < 10; ++i)
    rows.push_back({{GemmShape{1, i < 8 ? 8192 : 1, 8192, 8192}, "bf16"}, 5e-6, {}, "table.csv:" + std::to_string(i)});
  const auto result = calibrate(rows, device());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_input);
  EXPECT_NE(result.error().text().find("8 of 10"), std::string::npos) << result.error().text();
}

TEST(SlowClasses, TimesInSmallerUnitAreReported) {
  auto rows = measured(device());
  EXPECT_TRUE(slow_classes(rows, device()).empty());
  const auto count = static_cast<std::int64_t>(rows.size());
  for (Measurement& row : rows) row.seconds *= 1000;
  const auto slow = slow_classes(rows, device());
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow.begin()->second, count);
  rows.back().seconds = 1e-6;  // one that a launch explains
  EXPECT_TRUE(slow_classes(rows, device()).empty());
}

TEST(Impossible, NoOtherError) {
  const std::vector<Measurement> rows{{Kernel{GemmShape{1, 8192, 8192, 8192}, "bf16"}, 1e-6, {}, "table.csv:2"}};
  const auto result = calibrate(rows, device());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_input);
  EXPECT_NE(result.error().text().find("table.csv:2"), std::string::npos);
}

TEST(Calibrate, EnergyOfKnownParts) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  const EnergyModel& model = fitted.energy.at("gemm bf16");
  EXPECT_NEAR(model.static_watts / 100, 1, 0.1);
  EXPECT_NEAR(model.joules_per_flop / 1e-12, 1, 0.1);
  EXPECT_LT(model.quality.mean_error, 0.05);
  CalibrationSet set;
  set.add(fitted, device());
  const auto made = energy_of({GemmShape{1, 4096, 4096, 4096}, "bf16"}, device(), 2e-3, set).value();
  EXPECT_NEAR(made.joules() / (0.2 + 0.137 + 0.002), 1, 0.1);
  EXPECT_FALSE(energy_of({GemmShape{1, 8, 8, 8}, "bf16"}, device("acme_two"), 1e-3, set));
}

TEST(Calibrate, TheSameInputGivesTheSameCalibration) {
  AACO_CALIBRATED(one, calibrate(measured(device()), device(), quick()));
  const auto two = calibrate(measured(device()), device(), quick());
  EXPECT_EQ(to_bytes(one), to_bytes(*two));
}

TEST(Calibrate, FewSitesGiveWideBounds) {
  auto rows = measured(device());
  rows.resize(7);  // one site
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto made = estimate(rows.front().kernel, device(), &set).value();
  EXPECT_GT(made.upper / made.lower, 3);
}

TEST(Calibrate, RefusesUnfittableInput) {
  EXPECT_EQ(calibrate({}, device()).error().code, ErrorCode::invalid_input);
  std::vector<Measurement> rows{{Kernel{GemmShape{1, 8, 8, 8}, "fp8"}, 1e-3, {}, "table.csv:2"}};
  const auto result = calibrate(rows, device());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unsupported);
  EXPECT_NE(result.error().text().find("table.csv:2"), std::string::npos);
}

// Products of few rows are bound by the memory, and what they compute in that time says nothing of what the units can.
TEST(Calibrate, ACeilingIsSeenOnlyWhereItBinds) {
  auto rows = measured(device());
  std::erase_if(rows, [](const Measurement& row) { return std::get<GemmShape>(row.kernel.shape).m > 16; });
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  EXPECT_EQ(fitted.latency.front().ceilings.flops_per_s, 0);
  EXPECT_NEAR(fitted.latency.front().ceilings.bytes_per_s / 0.8e12, 1, 0.1);
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const Kernel large{GemmShape{1, 4096, 8192, 8192}, "bf16"};
  const auto beyond = estimate(large, device(), &set).value();
  EXPECT_NEAR(beyond.seconds / (work_of(large)->flops / 0.7e14), 1, 0.4);
  const auto within = estimate({GemmShape{1, 16, 4096, 4096}, "bf16"}, device(), &set).value();
  EXPECT_GT(std::log(beyond.upper / beyond.lower), 2 * std::log(within.upper / within.lower));
  EXPECT_THAT(beyond.explanation.method, testing::HasSubstr("outside the measured range"));
  EXPECT_THAT(within.explanation.method, testing::Not(testing::HasSubstr("outside the measured range")));
}

TEST(Calibrate, OneSiteSetsNoCeiling) {
  auto rows = measured(device());
  rows.resize(2);
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto made = estimate({GemmShape{1, 64, 4096, 4096}, "bf16"}, device(), &set).value();
  EXPECT_LT(made.lower, made.seconds / 1.5) << "the best of two small products is no limit of a large one";
}

// Kernels that nobody tuned, at one site: its class keeps its times, which say little of other sites and nothing of other types.
TEST(Calibrate, OneSiteHasWideBoundsForOthers) {
  DeviceFacts facts = device();
  facts.flops_per_s["fp16"] = facts.flops_per_s["bf16"];
  std::vector<Measurement> rows;
  for (std::int64_t m = 1; m <= 4096; m *= 2) {
    const Kernel kernel{GemmShape{1, m, 8192, 1024}, "bf16"};
    const Work work = work_of(kernel).value();
    rows.push_back({kernel, 20 * std::max(work.flops / 1e14, work.bytes / 1e12) + 76e-6, {}, "table.csv:" + std::to_string(m)});
  }
  AACO_CALIBRATED(fitted, calibrate(rows, facts, quick()));
  CalibrationSet set;
  set.add(std::move(fitted), facts);
  const Kernel kernel{GemmShape{1, 197, 3072, 768}, "bf16"}, other{GemmShape{1, 197, 3072, 768}, "fp16"};
  const auto made = estimate(kernel, facts, &set).value();
  EXPECT_EQ(made.level, Level::calibrated);
  EXPECT_LT(made.lower, made.seconds / 5) << "a tuned kernel is near the roofline";
  EXPECT_EQ(estimate(other, facts, &set).value().level, Level::theoretical);
}

TEST(Calibrate, ClassesWithoutAPeakAreLeftOut) {
  auto rows = measured(device());
  rows.insert(rows.begin(), {Kernel{GemmShape{1, 8, 8, 8}, "fp8"}, 1e-3, {}, "table.csv:2"});
  rows.push_back({Kernel{GemmShape{1, 16, 8, 8}, "fp8"}, 1e-3, {}, "table.csv:999"});
  const RowsWithoutPeak unrated = rows_without_peak(rows, device());
  EXPECT_EQ(unrated.count, 2);
  EXPECT_EQ(unrated.first, 0U);
  EXPECT_EQ(unrated.classes.at("gemm fp8"), 2);
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  ASSERT_EQ(fitted.latency.size(), 1U);
  EXPECT_EQ(fitted.latency.front().type, "bf16");
  EXPECT_EQ(fitted.latency.front().quality.rows, static_cast<std::int64_t>(rows.size()) - 2);
}

// To the last bit: by the fit itself, and by what a file of it says when it is asked.
TEST(CalibrationFile, EstimatesAsTheFitDid) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  fitted.provenance = {"1.0", "2026-01-01T00:00:00Z", {"table.csv sha256:0"}, {}};
  const auto file = CalibrationFile::open(core::PositionalBytes::of(to_bytes(fitted), "fitted"));
  ASSERT_TRUE(file) << file.error().text();
  CalibrationSet kept, read;
  kept.add(fitted, device());
  read.add(*file, device());
  for (const DeviceFacts& on : {device(), device("acme_two", 2e12)})  // its own, and one that it lends to
    for (std::int64_t m = 1; m <= 4096; m *= 2)
      for (std::int64_t n = 100; n <= 6400; n *= 4) {
        const Kernel kernel{GemmShape{1, m, n, 777}, "bf16"};
        const auto one = estimate(kernel, on, &kept).value(), two = estimate(kernel, on, &read).value();
        EXPECT_EQ(std::tie(one.seconds, one.lower, one.upper), std::tie(two.seconds, two.lower, two.upper));
        EXPECT_EQ(one.explanation.method, two.explanation.method);
      }
  const Kernel kernel{GemmShape{1, 512, 512, 512}, "bf16"};
  EXPECT_EQ(energy_of(kernel, device(), 1e-3, kept)->joules(), energy_of(kernel, device(), 1e-3, read)->joules());
  const auto whole = file->whole();
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->latency, fitted.latency);
  EXPECT_EQ(whole->energy, fitted.energy);
  EXPECT_EQ(to_bytes(*whole), to_bytes(fitted));
  EXPECT_TRUE(read.status());
}

TEST(SiteOf, WholeSitesAreOfOneName) {
  EXPECT_EQ(site_of({GemmShape{1, 2, 3, 4}, "bf16"}), site_of({GemmShape{8, 9, 3, 4}, "fp8"}));
  EXPECT_NE(site_of({GemmShape{1, 2, 3, 4}, "bf16"}), site_of({GemmShape{1, 2, 4, 3}, "bf16"}));
  EXPECT_NE(site_of({VectorShape{"add", 1, 2}, "fp32"}), site_of({VectorShape{"mul", 1, 2}, "fp32"}));
}

}  // namespace
}  // namespace aaco::estimation
