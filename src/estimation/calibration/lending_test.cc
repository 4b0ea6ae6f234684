#include <gtest/gtest.h>

#include <cmath>

#include "estimation/calibrated.h"
#include "estimation/calibration.h"
#include "estimation/calibration_file.h"
#include "tests/support/measured_device.h"

namespace aaco::estimation {
namespace {

TEST(Lending, ARelativeLendsByTheRatioOfRooflines) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const DeviceFacts faster = device("acme_two", 2e12);
  const Kernel streaming{GemmShape{1, 1, 8192, 8192}, "bf16"};
  const auto made = estimate(streaming, faster, &set).value();
  EXPECT_EQ(made.level, Level::interpolated);
  EXPECT_EQ(made.source, "acme_one");
  EXPECT_LT(made.seconds / estimate(streaming, device(), &set)->seconds, 0.6);
  set.lend_only({"acme_nine"});
  EXPECT_EQ(estimate(streaming, faster, &set)->level, Level::theoretical);
}

// A GPU's kernels say nothing of an edge accelerator's.
TEST(Lending, AnotherClassOfDeviceGetsNothing) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  DeviceFacts other = device("acme_edge");
  const Kernel kernel{GemmShape{1, 512, 2048, 2048}, "bf16"};
  EXPECT_EQ(estimate(kernel, other, &set)->level, Level::interpolated);
  other.is_accelerator = true;
  EXPECT_EQ(estimate(kernel, other, &set)->level, Level::theoretical);
  other.is_accelerator = false;
  other.is_cpu = true;
  EXPECT_EQ(estimate(kernel, other, &set)->level, Level::theoretical);
}

TEST(Lending, OtherTypeWithSameElementIsNotACalibration) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto own = estimate({GemmShape{1, 512, 2048, 2048}, "bf16"}, device(), &set).value();
  const auto other = estimate({GemmShape{1, 512, 2048, 2048}, "bf16_rows"}, device(), &set).value();
  EXPECT_EQ(own.level, Level::calibrated);
  EXPECT_EQ(other.level, Level::interpolated);
  EXPECT_GT(other.upper, 1.4 * own.seconds + 70e-6) << "another program, which may be issued in several steps";
  EXPECT_NEAR(other.seconds, std::sqrt(other.lower * other.upper), 1e-12);
  EXPECT_GT(other.upper, own.upper);
  EXPECT_LE(other.lower, own.lower);
  CalibrationSet lent;
  AACO_CALIBRATED(again, calibrate(measured(device()), device(), quick()));
  lent.add(std::move(again), device());
  const auto near = estimate({GemmShape{1, 512, 2048, 2048}, "bf16"}, device("acme_two"), &lent).value();
  const auto carried = estimate({GemmShape{1, 512, 2048, 2048}, "bf16_rows"}, device("acme_two"), &lent).value();
  EXPECT_GT(carried.upper, near.upper + 70e-6) << "carried over, the same";
  EXPECT_NE(other.explanation.method.find("no measurements of bf16_rows, using bf16 instead"), std::string::npos);
}

TEST(Lending, MultiStepFloorDoesNotLimitOtherPrograms) {
  constexpr double kStepsS = 60e-6;
  std::vector<Measurement> rows = measured(device());
  for (Measurement& row : rows) row.seconds += kStepsS;
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const GemmShape small{1, 1, 64, 64};
  const auto own = estimate({small, "bf16"}, device(), &set).value();
  EXPECT_GT(own.seconds, 0.9 * kStepsS);
  for (const DeviceFacts& asked : {device(), device("acme_two")}) {
    const auto other = estimate({small, "bf16_rows"}, asked, &set).value();
    EXPECT_LT(other.seconds, kStepsS / 2) << asked.id << ": " << other.explanation.method;
    EXPECT_GT(other.upper, own.upper);
  }
}

TEST(Lending, TheOtherSixteenBitsAreOfTheSameKernelsWhereBothHaveOnePeak) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  DeviceFacts both = device();
  both.flops_per_s["fp16"] = both.flops_per_s.at("bf16");
  const GemmShape shape{1, 512, 2048, 2048};
  const auto own = estimate({shape, "bf16"}, both, &set).value(), other = estimate({shape, "fp16"}, both, &set).value();
  EXPECT_EQ(own.level, Level::calibrated);
  EXPECT_EQ(other.level, Level::interpolated);
  EXPECT_GT(other.upper / other.seconds, 1.5);
  EXPECT_LE(other.lower, own.lower);
  EXPECT_DOUBLE_EQ(other.seconds, own.seconds) << "wider, not slower";
  EXPECT_NE(other.explanation.method.find("no measurements of fp16, using bf16 instead"), std::string::npos)
      << other.explanation.method;
  EXPECT_EQ(estimate({shape, "fp16"}, both, &set, Level::interpolated)->level, Level::theoretical) << "no relative either";
  DeviceFacts relative = both;
  relative.id = "acme_two";
  EXPECT_EQ(estimate({shape, "fp16"}, relative, &set)->level, Level::interpolated) << "carried over, and of the other type";
  EXPECT_GT(estimate({shape, "fp16"}, relative, &set)->upper, other.upper);
  std::vector<Measurement> rows = measured(relative);
  for (Measurement& row : rows) row.kernel.type = "fp16";
  AACO_CALIBRATED(lent, calibrate(rows, relative, quick()));
  set.add(std::move(lent), relative);
  const auto carried = estimate({shape, "fp16"}, both, &set).value();
  EXPECT_EQ(carried.source, "acme_two") << "the type itself, of a relative, has the narrower bound";
  EXPECT_LT(carried.upper / carried.lower, other.upper / other.lower);
  set.lend_only({"acme_one"});
  both.flops_per_s["fp16"] *= 2;
  EXPECT_EQ(estimate({shape, "fp16"}, both, &set)->level, Level::theoretical) << "another rate is another engine";
  both.flops_per_s["fp32"] = both.flops_per_s.at("bf16");
  EXPECT_EQ(estimate({shape, "fp32"}, both, &set)->level, Level::theoretical) << "twice the bytes";
}

TEST(Lending, SingleSiteClassIsNotTransferred) {
  std::vector<Measurement> rows = measured(device());
  for (Measurement one : measured(device())) {
    if (site_of(one.kernel) != site_of(rows.front().kernel)) continue;
    one.kernel.type = "bf16_rows";
    rows.push_back(one);
  }
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const Kernel kernel{GemmShape{1, 512, 2048, 2048}, "bf16_rows"};
  EXPECT_EQ(set.find("acme_one", kernel)->model->type, "bf16");
  EXPECT_EQ(set.find("acme_one", kernel, true)->model->type, "bf16");
  EXPECT_EQ(estimate(kernel, device(), &set)->level, Level::interpolated);
}

TEST(Lending, ShippedFitOfOneSiteIsNotACalibration) {
  std::vector<Measurement> rows = measured(device());
  std::erase_if(rows, [first = site_of(rows.front().kernel)](const Measurement& row) { return site_of(row.kernel) != first; });
  AACO_CALIBRATED(own, calibrate(rows, device(), quick()));
  DeviceCalibration shipped = own;
  shipped.provenance.licences = {"MIT: somebody"};
  const Kernel kernel = rows[rows.size() / 2].kernel;
  CalibrationSet set;
  set.add(std::move(own), device());
  EXPECT_EQ(estimate(kernel, device(), &set)->level, Level::calibrated) << "one's own rows";
  set.add(std::move(shipped), device());
  EXPECT_EQ(estimate(kernel, device(), &set)->level, Level::theoretical);
}

TEST(Lending, OperandsOfTheSameWidthsComeBeforeMoreRows) {
  std::vector<Measurement> rows = measured(device());
  const std::size_t half = rows.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    rows.push_back(rows[i]);
    rows.back().kernel.type = "int8_wo";
  }
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto lends = [&set](const char* type) { return set.find("acme_one", {GemmShape{1, 64, 512, 512}, type})->model->type; };
  EXPECT_EQ(lends("w8a16"), "int8_wo");
  EXPECT_EQ(lends("bf16_rows"), "bf16");
  EXPECT_EQ(lends("int4_wo"), "bf16") << "neither has its widths; this one has more rows";
}

TEST(Lending, AnotherArchitectureLendsWithWiderBounds) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const Kernel kernel{GemmShape{1, 512, 2048, 2048}, "bf16"};
  DeviceFacts stranger = device("acme_two");
  const auto near = estimate(kernel, stranger, &set).value();
  stranger.architecture = "two";
  const auto far = estimate(kernel, stranger, &set).value();
  // The low ends are both held by the ceilings; above them the bound is nearly twice as wide, though the ceilings are the same.
  EXPECT_GT(std::log(far.upper / far.seconds), 1.8 * std::log(near.upper / near.seconds));
  EXPECT_GT(far.upper / far.seconds, 1.35);
  EXPECT_LE(far.lower, near.lower);
}

TEST(Lending, CeilingsFurtherApartWidenTheBound) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const Kernel kernel{GemmShape{1, 512, 2048, 2048}, "bf16"};
  DeviceFacts stranger = device("acme_two");
  stranger.architecture = "two";
  const auto alike = estimate(kernel, stranger, &set).value();
  stranger.memory_bytes_per_s *= 8;
  stranger.flops_per_s["bf16"] *= 8;
  const auto apart = estimate(kernel, stranger, &set).value();
  EXPECT_GT(apart.upper / apart.seconds, 1.1 * alike.upper / alike.seconds);
  EXPECT_LT(apart.seconds, alike.seconds / 4);
}

TEST(Lending, OtherNumbersOfUnitsWidenTheBoundWithinAnArchitectureToo) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto bound = [&set](double peak, double bandwidth) {
    DeviceFacts relative = device("acme_two");
    relative.flops_per_s["bf16"] *= peak;
    relative.memory_bytes_per_s *= bandwidth;
    const auto made = estimate({GemmShape{1, 512, 2048, 2048}, "bf16"}, relative, &set).value();
    EXPECT_EQ(made.level, Level::interpolated);
    return made.upper / made.seconds;
  };
  EXPECT_GT(bound(0.25, 1), 1.1 * bound(1, 1));
  EXPECT_GT(bound(4, 4), 1.1 * bound(1, 1));
  EXPECT_NEAR(bound(1, 1.5), bound(1, 1), 1e-9) << "more memory alone: H200 and H100, on which the constant was chosen";
}

TEST(Lending, UncertainRateCountsHalf) {
  DeviceFacts lender = device();
  lender.flops_per_s["fp16"] = 2 * lender.flops_per_s["bf16"];
  AACO_CALIBRATED(fitted, calibrate(measured(lender), lender, quick()));
  CalibrationSet set;
  set.add(std::move(fitted), lender);
  const Kernel kernel{GemmShape{1, 4096, 8192, 8192}, "bf16"};
  DeviceFacts successor = device("acme_two");
  successor.architecture = "two";
  successor.flops_per_s = {{"bf16", 2e14}, {"fp16", 2e14}};
  const auto theirs = estimate(kernel, lender, &set).value(), made = estimate(kernel, successor, &set).value();
  EXPECT_NEAR(theirs.seconds / made.seconds, std::sqrt(2.0), 0.05);
  EXPECT_LT(made.lower, theirs.seconds / 2) << "kernels that use the new rate";
  EXPECT_GT(made.upper, theirs.seconds) << "kernels that don't";
  EXPECT_NE(made.explanation.method.find("half of the change in the bf16-to-fp16 rate"), std::string::npos);
  successor.flops_per_s["fp16"] = 4e14;  // twice the rate of everything
  EXPECT_NEAR(theirs.seconds / estimate(kernel, successor, &set)->seconds, 2, 0.1);
}

// The fit of `measured()` as one that is shipped, with a term for other laboratories.
DeviceCalibration shipped(DeviceCalibration fitted) {
  for (LatencyModel& model : fitted.latency) model.bounds.elsewhere = 0.3;
  return fitted;
}

TEST(Elsewhere, WidensTheBoundsAndKeepsThoseOfTheSameLaboratory) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet own, others;
  own.add(fitted, device());
  others.add(shipped(fitted), device());
  const Kernel kernel{GemmShape{1, 512, 2048, 2048}, "bf16"};
  for (const DeviceFacts& asked : {device(), device("acme_two")}) {
    const auto narrow = estimate(kernel, asked, &own).value(), wide = estimate(kernel, asked, &others).value();
    EXPECT_EQ(narrow.seconds, wide.seconds);
    EXPECT_EQ(narrow.level, wide.level);
    EXPECT_GT(wide.upper, (asked.id == device().id ? 1.1 : 1.05) * narrow.upper);  // lent: two thirds of the term
    EXPECT_LE(wide.lower, narrow.lower);
    EXPECT_FALSE(narrow.same_laboratory);
    ASSERT_TRUE(wide.same_laboratory);
    EXPECT_DOUBLE_EQ(wide.same_laboratory->upper, narrow.upper);
    EXPECT_DOUBLE_EQ(wide.same_laboratory->lower, narrow.lower);
  }
}

TEST(Lending, ProductsAreNotLentToAnotherMaker) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  DeviceFacts other = device("other_one");
  const Kernel kernel{GemmShape{1, 512, 2048, 2048}, "bf16"};
  EXPECT_EQ(estimate(kernel, other, &set)->level, Level::interpolated);
  other.vendor = "other";
  other.architecture = "other";
  EXPECT_EQ(estimate(kernel, other, &set)->level, Level::theoretical);
}

TEST(Level, FarOutsideTheMeasuredRangeIsNotCalibrated) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  EXPECT_EQ(estimate({GemmShape{1, 4096, 8192, 8192}, "bf16"}, device(), &set)->level, Level::calibrated);
  EXPECT_EQ(estimate({GemmShape{1, 65536, 16384, 16384}, "bf16"}, device(), &set)->level, Level::interpolated);
}

TEST(Level, BatchedProductsOfAFitOfPlainOnesAreInterpolated) {
  AACO_CALIBRATED(fitted, calibrate(measured(device()), device(), quick()));
  EXPECT_EQ(fitted.latency.front().classes, (std::map<std::string, std::int64_t>{{"gemm bf16", 448}}));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto plain = estimate({GemmShape{1, 512, 2048, 2048}, "bf16"}, device(), &set).value();
  const auto batched = estimate({GemmShape{4, 512, 1024, 1024}, "bf16"}, device(), &set).value();
  EXPECT_EQ(plain.level, Level::calibrated);
  EXPECT_EQ(batched.level, Level::interpolated);
  EXPECT_GT(batched.upper / batched.lower, 1.5 * plain.upper / plain.lower);
}

TEST(Level, DecodingIsNotEstimatedFromPrefill) {
  std::vector<Measurement> rows;
  for (const std::int64_t heads : {8, 16, 32, 64})
    for (std::int64_t query = 64; query <= 4096; query *= 2) {
      const Kernel kernel{AttentionShape{true, 1, query, 0, heads, heads, 128, "bf16"}, "bf16"};
      const Work work = work_of(kernel).value();
      rows.push_back({kernel, work.flops / 0.5e14 + work.bytes / 0.8e12 + 5e-6, {}, "table.csv:" + std::to_string(rows.size())});
    }
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  EXPECT_EQ(estimate({AttentionShape{true, 1, 512, 0, 32, 32, 128, "bf16"}, "bf16"}, device(), &set)->level, Level::calibrated);
  EXPECT_EQ(estimate({AttentionShape{false, 8, 1, 2047, 32, 32, 128, "bf16"}, "bf16"}, device(), &set)->level,
            Level::theoretical);
}

TEST(Compact, IsAFractionOfTheSizeAndNearlyAsGood) {
  FitSettings settings = quick();
  AACO_CALIBRATED(whole, calibrate(measured(device()), device(), settings));
  settings.compact = true;
  AACO_CALIBRATED(compact, calibrate(measured(device()), device(), settings));
  compact.provenance = whole.provenance = {"1.0", "2026-01-01T00:00:00Z", {"table.csv"}, {}, {}};
  EXPECT_TRUE(compact.compact);
  EXPECT_LT(to_bytes(compact).size(), to_bytes(whole).size() / 3);
  EXPECT_LT(compact.latency.front().quality.mean_error, 1.3 * whole.latency.front().quality.mean_error);
  const auto read = CalibrationFile::open(core::PositionalBytes::of(to_bytes(compact), "acme_one.calibration")).value();
  EXPECT_EQ(read.whole()->latency, compact.latency) << "what was judged is what is stored";
}

std::vector<Measurement> copies() {
  std::vector<Measurement> rows;
  for (std::int64_t count = 1024; count < 1'000'000'000; count *= 2) {
    const std::int64_t columns = std::int64_t{256} << rows.size() % 3;
    const Kernel kernel{VectorShape{"copy", count / columns, columns}, "bf16"};
    rows.push_back({kernel, work_of(kernel)->bytes / 0.8e12 + 5e-6, {}, "table.csv:" + std::to_string(rows.size() + 2)});
  }
  return rows;
}

TEST(Lending, AHandfulOfRowsIsNotLentToAnotherMaker) {
  const std::vector<Measurement> rows = copies();
  for (const std::int64_t count : {20, 999, 1000}) {
    AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
    for (LatencyModel& model : fitted.latency) model.quality.rows = count;
    CalibrationSet set;
    set.add(std::move(fitted), device());
    DeviceFacts other = device("other_one");
    EXPECT_EQ(estimate(rows.back().kernel, other, &set)->level, Level::interpolated) << "of the same maker";
    other.vendor = "other";
    other.architecture = "other";
    EXPECT_EQ(estimate(rows.back().kernel, other, &set)->level, count < 1000 ? Level::theoretical : Level::interpolated) << count;
  }
}

TEST(Lending, CopiesTransferWithoutOperations) {
  const std::vector<Measurement> rows = copies();
  AACO_CALIBRATED(fitted, calibrate(rows, device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto made = estimate(rows.back().kernel, device("acme_two", 2e12), &set).value();
  EXPECT_EQ(made.level, Level::interpolated);
  EXPECT_NEAR(made.seconds / (rows.back().seconds / 2), 1, 0.3);
  EXPECT_LE(made.lower, made.seconds);
  EXPECT_GE(made.upper, made.seconds);
}

}  // namespace
}  // namespace aaco::estimation
