#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "core/numbers.h"
#include "estimation/calibration.h"
#include "tests/estimates/measured_rows.h"
#include "tests/support/shipped_device.h"

// FP16 estimated from measurements of BF16, and the reverse, where a device computes both at one rate: an MI210's convolutions.
namespace aaco::estimation {
namespace {

std::vector<Measurement> convolutions(const std::string& type, std::size_t step) {
  std::vector<Measurement> out;
  for (const Row& row : rows_of(data_file("conv2d.csv.gz"), step)) {
    Measurement measured{convolution_of(row), core::parse_f64(row.at("latency_us")).value_or(0) * 1e-6, {}, ""};
    if (row.at("device") != "MI210" || measured.kernel.type != type || !work_of(measured.kernel)) continue;
    if (std::isfinite(measured.seconds) && measured.seconds > 0) out.push_back(std::move(measured));
  }
  return out;
}

struct Tally {
  double inside = 0, error = 0, rows = 0;
  void add(const LatencyEstimate& made, double seconds) {
    ++rows;
    error += std::abs(made.seconds / seconds - 1);
    if (seconds >= made.lower && seconds <= made.upper) ++inside;
  }
};

void lend(const std::string& from, const std::string& to) {
  if (!core::exists(data_file("conv2d.csv.gz"))) GTEST_SKIP() << "skipped, no real data";
  const DeviceFacts facts = facts_of(hardware::shipped_device("MI210"));
  ASSERT_EQ(facts.flops_per_s.at("fp16"), facts.flops_per_s.at("bf16"));
  FitSettings settings;
  settings.parts = 4;
  const auto fitted = calibrate(convolutions(from, from == "fp16" ? 2 : 1), facts, settings);
  if (!fitted && fitted.error().code == core::ErrorCode::unsupported) GTEST_SKIP() << fitted.error().message;
  ASSERT_TRUE(fitted) << fitted.error().text();
  CalibrationSet set;
  set.add(*fitted, facts);
  Tally lent, specified;
  for (const Measurement& row : convolutions(to, 1)) {
    const auto made = estimate(row.kernel, facts, &set), plain = estimate(row.kernel, facts, nullptr);
    ASSERT_TRUE(made && plain);
    ASSERT_EQ(made->level, Level::interpolated);
    lent.add(*made, row.seconds);
    specified.add(*plain, row.seconds);
  }
  std::printf("%s from %s: %g rows, %.1f %% off, %.1f %% inside; by specifications %.1f %% off, %.1f %% inside\n", to.c_str(),
              from.c_str(), lent.rows, 100 * lent.error / lent.rows, 100 * lent.inside / lent.rows,
              100 * specified.error / specified.rows, 100 * specified.inside / specified.rows);
  ASSERT_GT(lent.rows, 1000);
  EXPECT_GT(lent.inside / lent.rows, 0.87);
  EXPECT_LT(lent.error, specified.error);
}

TEST(TheOtherSixteenBits, LendToFp16) { lend("bf16", "fp16"); }
TEST(TheOtherSixteenBits, LendToBf16) { lend("fp16", "bf16"); }

}  // namespace
}  // namespace aaco::estimation
