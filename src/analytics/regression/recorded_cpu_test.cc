#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analytics/recorded_time.h"
#include "analytics/side_verdict.h"
#include "core/random.h"

namespace aaco::analytics::regression {
namespace {

using stats::Verdict;
using testing::HasSubstr;

MetricResult metric(const std::string& id, Verdict verdict, double delta_ratio = 0.1) {
  MetricResult result;
  result.id = id;
  result.method = Method::values;
  result.verdict = verdict;
  result.delta_ratio = delta_ratio;
  result.threshold_ratio = 0.05;
  result.shares = {0.7, 0.2, 0.1};
  return result;
}

// Recordings of three sessions a side beside changing load, which makes the run time scatter and moves the CPU time a little.
struct Recordings {
  double run_time_scatter = 0.3, cpu_scatter = 0.02, together = 0.5;  // of logs; the share of the load's scatter that both have
};
std::vector<MetricResult> recorded(const Recordings& world, double cpu_change, double threshold, core::Random& random,
                                   SideVerdict* verdict = nullptr) {
  MetricInput run_time{.id = std::string(kRecordedTime), .unit = "ns", .scope = "session", .threshold_ratio = threshold};
  MetricInput cpu = run_time;
  cpu.id = kRecordedCpu;
  for (const bool b : {false, true})
    for (int i = 0; i < 3; ++i) {
      const double load = random.normal(), own = random.normal();
      const double change = b ? 1 + cpu_change : 1;
      (b ? run_time.b : run_time.a).push_back({{}, 3e9 * change * std::exp(world.run_time_scatter * load), {}});
      const double mixed = world.together * load + std::sqrt(1 - world.together * world.together) * own;
      (b ? cpu.b : cpu.a).push_back({{}, 1e9 * change * std::exp(world.cpu_scatter * mixed), {}});
    }
  Options options;
  options.first_error_share = kMedianErrorShare;
  auto results = compare({run_time, cpu}, options);
  const SideVerdict decided = decide(results, {true, kMeanErrorShare * (1 - options.level), false});
  if (verdict != nullptr) *verdict = decided;
  return results;
}

double share_decided(const Recordings& world, double cpu_change, double threshold, std::string_view by = {}) {
  constexpr int kPairs = 2000;
  core::Random random(5);
  int decided = 0;
  for (int i = 0; i < kPairs; ++i) {
    const auto first = recorded(world, cpu_change, threshold, random).front();
    const bool changed = first.verdict == Verdict::regression || first.verdict == Verdict::improvement;
    decided += changed && (by.empty() || first.id == by);
  }
  return decided / static_cast<double>(kPairs);
}

TEST(CpuTimeOfRecordings, EqualProgramsKeepTheLevel) {
  for (const double together : {0.0, 0.5, 1.0})
    EXPECT_LE(share_decided({0.3, 0.03, together}, 0, 1e-6), 0.06) << together << ": with no threshold worth the name";
  EXPECT_LE(share_decided({0.3, 0.02, 0.5}, 0, 0.05), 0.03) << "with the usual one";
}

TEST(CpuTimeOfRecordings, DecidesWhereTheRunTimeScattersTooMuch) {
  EXPECT_LE(share_decided({}, 0.15, 0.05, kRecordedTime), 0.1);
  EXPECT_GE(share_decided({}, 0.15, 0.05, kRecordedCpu), 0.5);
}

TEST(CpuTimeOfRecordings, SaysWhoDecidedAndLeavesAClearRunTimeAlone) {
  core::Random random(1);
  SideVerdict verdict;
  auto results = recorded({0.3, 0.005, 0.5}, 0.3, 0.05, random, &verdict);
  EXPECT_EQ(results.front().id, kRecordedCpu);
  EXPECT_EQ(verdict.verdict, "regression");
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("process.cpu_time_ns decides (+30")));
  results = recorded({0.001, 0.005, 0.5}, 0.3, 0.05, random, &verdict);
  EXPECT_EQ(results.front().id, kRecordedTime);
}

TEST(CpuTimeOfRecordings, NeverAgainstTheRunTime) {
  std::vector<MetricResult> results = {metric(std::string(kRecordedTime), Verdict::inconclusive),
                                       metric(std::string(kRecordedCpu), Verdict::regression)};
  results[1].p_value = 0.001;
  results[0].interval = stats::Interval{-0.3, -0.02};
  EXPECT_EQ(let_own_time_decide(results, 0.02), "");
  results[0].interval = stats::Interval{-0.3, 0.4};
  EXPECT_NE(let_own_time_decide(results, 0.02), "");
  results = {metric(std::string(kRecordedTime), Verdict::equivalent), metric(std::string(kRecordedCpu), Verdict::regression)};
  results[0].interval = stats::Interval{-0.01, 0.01};
  EXPECT_EQ(let_own_time_decide(results, 0.02), "") << "a run that takes as long is no slower";
  results[0].verdict = Verdict::inconclusive;
  results[1].verdict = Verdict::equivalent;
  EXPECT_EQ(let_own_time_decide(results, 0.02), "") << "equal CPU times leave the waits open";
}

TEST(OwnTimeOfRecordings, ReplacesTheCpuTimeAndHasItsShare) {
  core::Random random(3);
  MetricInput run_time{.id = std::string(kRecordedTime), .unit = "ns", .scope = "session"}, cpu = run_time, own = run_time;
  cpu.id = kRecordedCpu;
  own.id = kRecordedOwn;
  for (const bool b : {false, true})
    for (int i = 0; i < 3; ++i) {
      (b ? run_time.b : run_time.a).push_back({{}, 3e9 * std::exp(0.4 * random.normal()), {}});
      (b ? cpu.b : cpu.a).push_back({{}, 1e9 * std::exp(0.005 * random.normal()), {}});
      (b ? own.b : own.a)
          .push_back({{}, (b ? 2e9 : 1e9) * std::exp(0.005 * random.normal()), {}});  // it sleeps for as long again
    }
  Options options;
  options.first_error_share = kMedianErrorShare;
  auto results = compare({run_time, cpu, own}, options);
  EXPECT_TRUE(shares_decision({run_time, cpu, own}));
  const SideVerdict verdict = decide(results, {true, kMeanErrorShare * (1 - options.level), false});
  EXPECT_EQ(results.front().id, kRecordedOwn);
  EXPECT_EQ(verdict.verdict, "regression");
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("without its waits for a CPU")));
  EXPECT_EQ(beside_run_time(std::vector<MetricInput>{run_time, cpu}), kRecordedCpu);
}

}  // namespace
}  // namespace aaco::analytics::regression
