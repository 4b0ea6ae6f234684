#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "estimation/calibrated.h"
#include "estimation/calibration.h"
#include "estimation/calibration_file.h"
#include "tests/support/measured_device.h"

// Kernels of several stacks in one fit.
namespace aaco::estimation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Decode attention at 80 % of the memory's rate; the second stack's kernel takes twice as long.
std::vector<Measurement> decoding() {
  core::Random random(3);
  std::vector<Measurement> rows;
  for (std::int64_t heads = 4; heads <= 64; heads *= 2)
    for (std::int64_t kv_heads = 1; kv_heads <= 4; kv_heads *= 2)
      for (std::int64_t batch = 1; batch <= 256; batch *= 4)
        for (std::int64_t keys = 128; keys <= 32768; keys *= 4)
          for (const char* program : {"fast:one", "slow:two"}) {
            const Kernel kernel{AttentionShape{false, batch, 1, keys - 1, heads, kv_heads, 128, "bf16"}, "bf16", program};
            const double best = work_of(kernel).value().bytes / 0.8e12 + 5e-6;
            const double seconds = (program == std::string("slow:two") ? 2 : 1) * best * std::exp(0.02 * random.normal());
            rows.push_back({kernel, seconds, {}, "t.csv:" + std::to_string(rows.size() + 2)});
          }
  return rows;
}

Kernel asked(const std::string& program) { return {AttentionShape{false, 16, 1, 8191, 16, 4, 128, "bf16"}, "bf16", program}; }

TEST(Programs, NamedKernelIsEstimatedAsMeasured) {
  AACO_CALIBRATED(fitted, calibrate(decoding(), device(), quick()));
  EXPECT_THAT(fitted.latency.at(0).operators, ElementsAre("fast:one", "slow:two"));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto fast = estimate(asked("fast:one"), device(), &set).value(),
             slow = estimate(asked("slow:two"), device(), &set).value();
  EXPECT_EQ(fast.level, Level::calibrated);
  EXPECT_NEAR(slow.seconds / fast.seconds, 2, 0.3);
  EXPECT_EQ(estimate(asked("slow"), device(), &set)->seconds, slow.seconds) << "a stack alone";
}

TEST(Programs, WithoutAStackTheFastestCountsWithBoundsOfAll) {
  AACO_CALIBRATED(fitted, calibrate(decoding(), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto fast = estimate(asked("fast:one"), device(), &set).value(),
             slow = estimate(asked("slow:two"), device(), &set).value();
  const auto any = estimate(asked(""), device(), &set).value();
  EXPECT_EQ(any.seconds, fast.seconds);
  EXPECT_EQ(any.upper, slow.upper);
  EXPECT_THAT(any.explanation.method, HasSubstr("the fastest of 2 measured kernels (fast:one)"));
}

TEST(Programs, UnseenKernelIsNotCalibrated) {
  AACO_CALIBRATED(fitted, calibrate(decoding(), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  for (const char* unseen : {"fast:newer", "third", "third:x"}) {
    const auto made = estimate(asked(unseen), device(), &set).value();
    EXPECT_EQ(made.level, Level::interpolated) << unseen;
    EXPECT_THAT(made.explanation.method, HasSubstr(std::string("no measurements of ") + unseen));
  }
}

// Of a table that names no kernels.
std::vector<Measurement> unnamed() {
  std::vector<Measurement> rows;
  for (Measurement row : decoding())
    if (row.kernel.program == "fast:one") {
      row.kernel.program.clear();
      rows.push_back(std::move(row));
    }
  return rows;
}

TEST(Programs, LentToAKernelNobodyMeasuredTheBoundIsWiderUpwards) {
  AACO_CALIBRATED(fitted, calibrate(decoding(), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const auto known = estimate(asked("slow:two"), device("acme_two"), &set).value();
  const auto unseen = estimate(asked("third:x"), device("acme_two"), &set).value();
  EXPECT_GT(unseen.upper / unseen.seconds, 1.3 * known.upper / known.seconds);
  EXPECT_THAT(unseen.explanation.method, HasSubstr("no measurements of third:x"));
}

TEST(Programs, ASisterThatMeasuredTheKernelGoesBeforeAnOwnTableWithoutIt) {
  AACO_CALIBRATED(own, calibrate(unnamed(), device("acme_two"), quick()));
  CalibrationSet set;
  set.add(own, device("acme_two"));
  const auto alone = estimate(asked("slow:two"), device("acme_two"), &set).value();
  EXPECT_EQ(alone.level, Level::interpolated) << "which kernels were measured is not known";
  AACO_CALIBRATED(sister, calibrate(decoding(), device(), quick()));
  set.add(std::move(sister), device());
  const auto made = estimate(asked("slow:two"), device("acme_two"), &set).value();
  EXPECT_EQ(made.level, Level::interpolated);
  EXPECT_THAT(made.source, HasSubstr("acme_one"));
  EXPECT_NEAR(made.seconds / alone.seconds, 2, 0.5);
  EXPECT_EQ(estimate(asked(""), device("acme_two"), &set)->level, Level::calibrated);
}

TEST(Programs, PromptsSayNothingOfDecoding) {
  AACO_CALIBRATED(fitted, calibrate(decoding(), device(), quick()));
  CalibrationSet set;
  set.add(std::move(fitted), device());
  const Kernel prompt{AttentionShape{true, 16, 1024, 0, 16, 4, 128, "bf16"}, "bf16"};
  EXPECT_EQ(estimate(prompt, device(), &set)->level, Level::theoretical);
}

TEST(Programs, FilesKeepTheKernels) {
  FitSettings settings = quick();
  settings.compact = true;
  AACO_CALIBRATED(fitted, calibrate(decoding(), device(), settings));
  fitted.provenance = {"1.0", "2026-01-01T00:00:00Z", {}, {}};
  CalibrationSet whole, read;
  const auto file = CalibrationFile::open(core::PositionalBytes::of(to_bytes(fitted), "t"));
  ASSERT_TRUE(file) << file.error().text();
  whole.add(std::move(fitted), device());
  read.add(*file, device());
  EXPECT_EQ(estimate(asked("slow:two"), device(), &read)->seconds, estimate(asked("slow:two"), device(), &whole)->seconds);
}

}  // namespace
}  // namespace aaco::estimation
