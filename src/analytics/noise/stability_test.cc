#include "analytics/stability.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::noise {
namespace {

std::vector<StabilityLimit> shipped() { return *load_stability_limits(AACO_SOURCE_DIR "/data/rules/stability.yaml"); }

// Processes whose medians lie `between` apart and whose calls scatter by `within`, both as standard deviations of the log.
StabilitySample sample_of(double between, double within, int processes = 40) {
  core::Random random(7);
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.next() >> 11) * 0x1p-53;
    return sum;
  };
  StabilitySample sample;
  sample.slice_ns = 2'000'000'000;
  LoopSeries loop{"spin", {}};
  for (int p = 0; p < processes; ++p) {
    const double level = 1e6 * std::exp(between * normal());
    std::vector<double> calls;
    for (int i = 0; i < 400; ++i) calls.push_back(level * std::exp(within * normal()));
    loop.processes.push_back(std::move(calls));
    trace::LoopBlockRow row;
    row.end_ns = sample.slice_ns;
    row.process_cpu_ns = row.machine_busy_ns = sample.slice_ns;
    row.steal_ns = 0;
    sample.slices.push_back(row);
  }
  sample.loops.push_back(std::move(loop));
  return sample;
}

TEST(Stability, AQuietMachineIsFit) {
  const auto verdict = judge_stability(sample_of(0.002, 0.01), shipped());
  ASSERT_TRUE(verdict) << verdict.error().text();
  EXPECT_TRUE(verdict->fit) << verdict->against.front();
  EXPECT_NEAR(verdict->loops[0].within_ratio, 0.01, 0.002);
  EXPECT_LT(verdict->loops[0].interleaved.at(60), 0.002);
}

// 2.8 standard deviations of the difference of two sides: the formula of the header by hand.
TEST(Stability, SmallestEffectMatchesFormula) {
  const auto verdict = *judge_stability(sample_of(0.05, 0.01), shipped());
  const LoopStability& loop = verdict.loops[0];
  EXPECT_NEAR(loop.between_ratio, 0.05, 0.015);
  EXPECT_NEAR(loop.interleaved.at(60), std::expm1(2.8016 * std::sqrt(2.0 / 30) * loop.between_ratio), 1e-4);
  EXPECT_NEAR(loop.one_process.at(60), std::expm1(2.8016 * std::sqrt(2.0) * loop.between_ratio), 2e-3);
  EXPECT_GT(loop.interleaved.at(10), loop.interleaved.at(60));
  EXPECT_FALSE(verdict.fit);
}

TEST(Stability, ReportsDisturbances) {
  StabilitySample sample = sample_of(0.002, 0.01);
  for (auto& row : sample.slices) row.machine_busy_ns = *row.process_cpu_ns + row.end_ns / 2;
  const auto verdict = *judge_stability(sample, shipped());
  EXPECT_FALSE(verdict.fit);
  ASSERT_EQ(verdict.against.size(), 1U);
  EXPECT_NE(verdict.against[0].find("other processes"), std::string::npos);
  EXPECT_NEAR(verdict.values.at("others_cores"), 0.5, 1e-9);
  EXPECT_FALSE(verdict.values.contains("io_some_ratio"));
}

TEST(Stability, NoVerdictFromTooFewCalls) {
  EXPECT_FALSE(judge_stability({}, shipped()));
  EXPECT_FALSE(judge_stability(sample_of(0.01, 0.01, 4), shipped()));
  StabilitySample sample = sample_of(0.01, 0.01);
  sample.loops[0].processes[3].clear();
  EXPECT_FALSE(judge_stability(sample, shipped()));
  sample = sample_of(0.01, 0.01);
  sample.loops[0].processes[3][5] = 0;
  EXPECT_FALSE(judge_stability(sample, shipped()));
  EXPECT_FALSE(load_stability_limits("/nonexistent.yaml"));
}

}  // namespace
}  // namespace aaco::analytics::noise
