#include "analytics/gpu_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace aaco::analytics::advice {
namespace {

GpuFacts calm() {
  GpuFacts facts;
  facts.span_ns = 1'000'000;
  facts.busy_ns = 1'000'000;
  facts.kernels = {{"conv", "convolution", 10, 1'000'000, std::nullopt, false}};
  return facts;
}

const Recommendation* of(const std::vector<Recommendation>& list, const std::string& id) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.id == id; });
  return found == list.end() ? nullptr : &*found;
}

TEST(GpuAdvice, LateHostGainsItsGaps) {
  GpuFacts facts = calm();
  facts.busy_ns = 600'000;
  facts.idle["host_late"] = {4, 400'000};
  facts.launch_ns = 100'000;  // of the 400: launching's own
  const auto list = recommend_gpu(facts);
  ASSERT_NE(of(list, "host_waiting"), nullptr);
  EXPECT_NEAR(of(list, "host_waiting")->gain_ratio, 0.3, 1e-9);
  EXPECT_NE(of(list, "host_waiting")->basis.find("4 gaps"), std::string::npos);
}

TEST(GpuAdvice, ReplayedGraphsShouldBeLarger) {
  GpuFacts facts = calm();
  facts.busy_ns = 300'000;
  facts.launch_ns = 600'000;
  facts.host = {{"graph-launch", "launching a graph", "larger", true, {90, 600'000}},
                {"python", "code", "less", false, {9, 90'000}}};
  const auto list = recommend_gpu(facts);
  ASSERT_NE(of(list, "launch_bound"), nullptr);
  EXPECT_EQ(of(list, "launch_bound")->title, "launch fewer, larger graphs");
  for (const auto& one : list) EXPECT_EQ(one.text.find("capture a graph"), std::string::npos) << one.text;
}
TEST(GpuAdvice, WaitsBetweenLaunchesGoBeforeGraphs) {
  GpuFacts facts = calm();
  facts.busy_ns = 400'000;
  facts.launch_ns = 350'000;
  facts.drained_ns = 500'000;
  facts.host = {{"framework", "dispatch", "graph", false, {90, 400'000}}, {"launch", "launches", "graph", true, {90, 200'000}}};
  const auto list = recommend_gpu(facts);
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list.front().id, "synchronisation");
  EXPECT_EQ(of(list, "launch_bound"), nullptr);
  EXPECT_EQ(of(list, "host_waiting"), nullptr);
  facts.drained_ns = 100'000;
  EXPECT_NE(of(recommend_gpu(facts), "launch_bound"), nullptr);
}
TEST(GpuAdvice, ManySmallCopiesAreCombined) {
  GpuFacts facts = calm();
  facts.busy_ns = 400'000;
  facts.launch_ns = 500'000;
  facts.copy_issue_ns = 450'000;
  facts.issued_title = issued_work("h2d", 4000, 8192).title;
  facts.issued_remedy = issued_work("h2d", 4000, 8192).remedy;
  facts.host = {{"launch", "launches", "graph", true, {4000, 500'000}}};
  const auto list = recommend_gpu(facts);
  ASSERT_NE(of(list, "small_copies"), nullptr);
  EXPECT_NEAR(of(list, "small_copies")->gain_ratio, 0.45, 1e-9);
  EXPECT_EQ(of(list, "launch_bound"), nullptr);
}

TEST(GpuAdvice, ReplayedLaunchesKeepTheirMinimumTime) {
  GpuFacts facts = calm();
  facts.busy_ns = 400'000;
  facts.launch_ns = 600'000;
  facts.kernels = {{"add", "elementwise", 100, 400'000, std::nullopt, false}};
  EXPECT_NEAR(of(recommend_gpu(facts), "launch_bound")->gain_ratio, 0.45, 1e-9);  // 600 us less 100 gaps of 1.5 us
  facts.launch_ns = 100'000;                                                      // replaying would take longer
  EXPECT_EQ(of(recommend_gpu(facts), "launch_bound"), nullptr);
}

TEST(GpuAdvice, AReplayedGraphRunsWithoutTheCodeBetweenItsLaunches) {
  GpuFacts facts = calm();
  facts.busy_ns = 100'000;
  facts.launch_ns = 400'000;
  facts.kernels = {{"add", "elementwise", 100, 100'000, std::nullopt, false}};
  facts.host = {{"launch", "launches", "graph", true, {90, 300'000}},
                {"framework", "dispatch", "graph", false, {9, 500'000}},
                {"data-loading", "loading", "workers", false, {1, 100'000}}};
  const auto list = recommend_gpu(facts);
  EXPECT_NEAR(of(list, "launch_bound")->gain_ratio, 0.65, 1e-9);  // 800 us less 100 gaps of 1.5 us
  EXPECT_EQ(of(list, "host_waiting"), nullptr);                   // the same remedy
  EXPECT_EQ(of(list, "launch_bound")->basis.find("goes first"), std::string::npos);
  facts.host.push_back({"synchronous-copy", "blocking copies", "asynchronous", false, {50, 50'000}});
  const auto reads = recommend_gpu(facts);
  EXPECT_NEAR(of(reads, "launch_bound")->gain_ratio, 0.25, 1e-9);  // values between launches: no graph of the whole step
  EXPECT_NE(of(reads, "launch_bound")
                ->basis.find("what waits for the device between the launches (.item(), .cpu(), synchronize) goes first"),
            std::string::npos);
  EXPECT_NE(of(reads, "host_waiting"), nullptr);
}

TEST(GpuAdvice, ShorterTypesSaveByTheDevicesRates) {
  GpuFacts facts = calm();
  facts.kernels = {{"sgemm", "gemm", 10, 800'000, 700'000.0, false, "tf32", 600'000},
                   {"add", "elementwise", 10, 200'000, std::nullopt, false}};
  const auto list = recommend_gpu(facts);
  ASSERT_NE(of(list, "precision"), nullptr);
  EXPECT_NEAR(of(list, "precision")->gain_ratio, 0.6, 1e-9);
  EXPECT_NE(of(list, "precision")->title.find("tf32"), std::string::npos);
  EXPECT_EQ(of(recommend_gpu(calm()), "precision"), nullptr);
  facts.kernels.front().faster_dtype = "float16";
  EXPECT_NE(of(recommend_gpu(facts), "precision")->text.find("torch.autocast('cuda', torch.float16)"), std::string::npos);
}

TEST(GpuAdvice, LargeElementwiseKernelsAreFusedWhereTheyDominate) {
  GpuFacts facts = calm();
  facts.kernels = {{"mul", "elementwise", 10, 400'000, std::nullopt, false}, {"gemm", "gemm", 10, 600'000, std::nullopt, false}};
  EXPECT_NEAR(of(recommend_gpu(facts), "elementwise_fusion")->gain_ratio, 0.2, 1e-9);
  facts.kernels.front().sum_ns = 200'000;
  EXPECT_EQ(of(recommend_gpu(facts), "elementwise_fusion"), nullptr);
}

TEST(GpuAdvice, FusionIsNotOfReductionsNorOfWhatLibrariesAdd) {
  GpuFacts facts = calm();
  facts.kernels = {{"sum", "reduction", 200, 900'000, std::nullopt, false},
                   {"add", "elementwise", 20, 100'000, std::nullopt, false}};
  EXPECT_EQ(of(recommend_gpu(facts), "microkernels"), nullptr);
  EXPECT_NE(of(recommend_gpu(facts), "costliest_kernel"), nullptr);
  facts.kernels = {{"add", "elementwise", 200, 500'000, std::nullopt, false},
                   {"nchwToNhwcKernel", "copy_transpose", 200, 500'000, std::nullopt, false}};
  const auto list = recommend_gpu(facts);
  EXPECT_NEAR(of(list, "microkernels")->gain_ratio, 0.25, 1e-9);
  EXPECT_NE(of(list, "costliest_kernel")->title.find("nchwToNhwc"), std::string::npos) << "the others are advised on already";
}

TEST(GpuAdvice, AKernelNearItsLimitsIsLeftAlone) {
  GpuFacts facts = calm();
  facts.kernels = {{"gemv", "gemm", 10, 1'000'000, 900'000.0, true}};
  EXPECT_TRUE(recommend_gpu(facts).empty());
  facts.kernels.front().ideal_ns = 800'000;
  EXPECT_NE(of(recommend_gpu(facts), "memory_bound")->text.find("80.0 %"), std::string::npos);
}

TEST(GpuAdvice, OnlyExposedTimeIsGained) {
  GpuFacts facts = calm();
  facts.exposed_copy_ns = 250'000;
  facts.exposed_collective_ns = 125'000;
  const auto list = recommend_gpu(facts);
  EXPECT_NEAR(of(list, "copy_bound")->gain_ratio, 0.25, 1e-9);
  EXPECT_NEAR(of(list, "communication_bound")->gain_ratio, 0.125, 1e-9);
  EXPECT_EQ(of(recommend_gpu(calm()), "copy_bound"), nullptr);
}

TEST(GpuAdvice, GainsHaveOneNamedWhole) {
  GpuFacts facts = calm();
  facts.exposed_copy_ns = 250'000;
  facts.host = {{"data-loading", "loading", "workers", false, {2, 100'000}}};
  for (const auto& one : recommend_gpu(facts)) EXPECT_EQ(one.gain_of, "the device span");
  facts.steps_ns = 2'000'000;
  const auto list = recommend_gpu(facts);
  EXPECT_NEAR(of(list, "copy_bound")->gain_ratio, 0.125, 1e-9);
  EXPECT_NEAR(of(list, "data-loading")->gain_ratio, 0.05, 1e-9);
  for (const auto& one : list) {
    EXPECT_EQ(one.gain_of, "the steps");
    EXPECT_EQ(one.basis.find("span"), std::string::npos) << one.basis;
  }
  facts.steps_ns = 900'000;  // overlapping steps: the span is longer
  EXPECT_EQ(recommend_gpu(facts).front().gain_of, "the device span");
}

TEST(GpuAdvice, ComparesKernelsWithDeviceLimits) {
  GpuFacts facts = calm();
  facts.kernels = {{"gemm", "gemm", 10, 600'000, 150'000, false}, {"norm", "normalisation", 4, 400'000, 390'000, true}};
  const auto list = recommend_gpu(facts);
  EXPECT_NEAR(of(list, "compute_bound")->gain_ratio, 0.45, 1e-9);
  EXPECT_EQ(of(list, "memory_bound"), nullptr);
  EXPECT_EQ(of(list, "costliest_kernel"), nullptr);  // it is the same one
}

TEST(GpuAdvice, OverlappingKernelsSaveTheirVisibleShare) {
  GpuFacts facts = calm();
  facts.busy_ns = 500'000;
  facts.kernels = {{"gemm", "gemm", 10, 1'000'000, 0.0, false}};
  EXPECT_NEAR(of(recommend_gpu(facts), "compute_bound")->gain_ratio, 0.5, 1e-9);
}

TEST(GpuAdvice, SmallKernelsAreFused) {
  GpuFacts facts = calm();
  facts.kernels = {{"add", "elementwise", 100, 500'000, std::nullopt, false},
                   {"gemm", "gemm", 100, 500'000, std::nullopt, false}};  // small too, but nothing to fuse it with
  EXPECT_NEAR(of(recommend_gpu(facts), "microkernels")->gain_ratio, 0.25, 1e-9);
}

TEST(GpuAdvice, RankedByExpectedSaving) {
  GpuFacts facts = calm();
  facts.busy_ns = 300'000;
  facts.idle["host_late"] = {3, 400'000};
  facts.idle["unknown"] = {3, 300'000};
  const auto list = recommend_gpu(facts);
  ASSERT_GE(list.size(), 3U);
  EXPECT_EQ(list.front().id, "host_waiting");
  for (std::size_t i = 1; i < list.size(); ++i) EXPECT_GE(list[i - 1].rank(), list[i].rank());
}

TEST(GpuAdvice, AtMostFourItems) {
  GpuFacts facts = calm();
  facts.busy_ns = 500'000;
  facts.exposed_copy_ns = facts.exposed_collective_ns = 100'000;
  facts.idle = {{"host_late", {3, 200'000}}, {"synchronisation", {3, 100'000}}, {"unknown", {3, 200'000}}};
  facts.launch_ns = 100'000;
  facts.kernels = {{"add", "elementwise", 20, 100'000, std::nullopt, false}, {"gemm", "gemm", 4, 200'000, std::nullopt, false}};
  const auto list = recommend_gpu(facts);
  ASSERT_EQ(list.size(), kMaxRecommendations);
  EXPECT_GT(list.back().gain_ratio, 0) << "an item without a gain displaces none with one";
  EXPECT_NE(list.front().command.find("aaco diff"), std::string::npos);
}

// A command shows what its advice is about: none stands beside two that are about different things.
TEST(GpuAdvice, EachAdviceHasItsCommand) {
  GpuFacts facts = calm();
  facts.session = "20260101T000000Z-abcdef";
  facts.busy_ns = 500'000;
  facts.exposed_copy_ns = facts.exposed_collective_ns = 100'000;
  facts.idle = {{"unknown", {3, 200'000}}};
  facts.kernels = {{"gemm", "gemm", 4, 200'000, std::nullopt, false}};
  const auto list = recommend_gpu(facts);
  ASSERT_EQ(list.size(), kMaxRecommendations);
  std::map<std::string, std::string> commands;
  for (const auto& one : list) commands[one.id] = one.command;
  EXPECT_EQ(
      commands["copy_bound"],
      "aaco import CHANGED_TRACE --tag changed && aaco diff 20260101T000000Z-abcdef tag:changed --metric gpu.exposed_copy_ns");
  EXPECT_THAT(commands["communication_bound"], testing::EndsWith("--metric gpu.exposed_collective_ns"));
  EXPECT_THAT(commands["costliest_kernel"], testing::EndsWith("--kernels"));
  EXPECT_EQ(commands["unexplained_idle"], "aaco import TRACE_WITH_HOST_EVENTS --tag traced && aaco explain tag:traced");
  EXPECT_EQ(commands.size(), list.size());
}

// Two items of idle time are not shown by one metric: taking one away must be seen beside the other.
TEST(GpuAdvice, EachIdleCauseHasItsMetric) {
  GpuFacts facts = calm();
  facts.session = "20260101T000000Z-abcdef";
  facts.busy_ns = 200'000;
  for (const char* cause : {"data-loading", "gc", "framework"}) {
    HostIdle one;
    one.cause = one.title = cause;
    one.idle = {4, 200'000};
    facts.host.push_back(one);
  }
  std::map<std::string, std::string> commands;
  for (const auto& one : recommend_gpu(facts)) commands[one.id] = one.command;
  const std::string begin = "aaco import CHANGED_TRACE --tag changed && aaco diff 20260101T000000Z-abcdef tag:changed --metric ";
  EXPECT_EQ(commands["data-loading"], begin + "gpu.idle.data_loading_ns");
  EXPECT_EQ(commands["gc"], begin + "gpu.idle.gc_ns");
  EXPECT_EQ(commands["host_waiting"], begin + "gpu.idle.framework_ns,gpu.idle.python_ns,gpu.idle.host_late_ns");
}

TEST(GpuAdvice, MoreTracingHasNoKnownGain) {
  GpuFacts facts = calm();
  facts.busy_ns = 100'000;
  facts.idle["unknown"] = {3, 900'000};
  const auto list = recommend_gpu(facts);
  ASSERT_NE(of(list, "unexplained_idle"), nullptr);
  EXPECT_EQ(of(list, "unexplained_idle")->gain_ratio, 0);
  EXPECT_EQ(of(list, "unexplained_idle")->basis.find("without it"), std::string::npos);
}

TEST(GpuAdvice, TruncatesLongNamesVisibly) {
  GpuFacts facts = calm();
  facts.kernels[0].name = std::string(100, 'k');
  const auto* slow = of(recommend_gpu(facts), "costliest_kernel");
  ASSERT_NE(slow, nullptr);
  EXPECT_NE(slow->title.find("kkk... (convolution)"), std::string::npos);
}

TEST(GpuAdvice, NoSpanNoAdvice) {
  EXPECT_TRUE(recommend_gpu({}).empty());
  GpuFacts facts = calm();
  facts.span_ns = 0;
  EXPECT_TRUE(recommend_gpu(facts).empty());
}

// Kernels that get slower: what another implementation would save is counted at the pace of the beginning.
GpuFacts slowing_facts() {
  GpuFacts facts;
  facts.span_ns = facts.busy_ns = 100e6;
  facts.kernels = {{"gemm", "gemm", 100, 80e6, 60e6, false}, {"scan", "sort_scan", 100, 20e6, {}, false}};
  return facts;
}
TEST(GpuAdvice, SlowingKernelsAreAdvisedOnOnce) {
  GpuFacts facts = slowing_facts();
  EXPECT_EQ(of(recommend_gpu(facts), "slowing_kernels"), nullptr);
  const double before = of(recommend_gpu(facts), "compute_bound")->gain_ratio;
  facts.slowing_excess_ns = 20e6;
  facts.late_to_early_ratio = 1.5;
  const auto list = recommend_gpu(facts);
  ASSERT_NE(of(list, "slowing_kernels"), nullptr);
  EXPECT_NEAR(of(list, "slowing_kernels")->gain_ratio, 0.2, 1e-9);
  EXPECT_NEAR(before, 0.2, 1e-9);
  EXPECT_EQ(of(list, "compute_bound"), nullptr) << "at the early pace 64 ms, of which 60 are needed";
}
TEST(GpuAdvice, FewGroupsAreSaidOfTheirKernel) {
  GpuFacts facts = slowing_facts();
  facts.few_groups_kernel = "scan";
  facts.few_groups = "8 work-groups for 304 compute units";
  EXPECT_NE(of(recommend_gpu(facts), "costliest_kernel")->text.find("8 work-groups"), std::string::npos);
  facts.few_groups_kernel = "gemm";
  EXPECT_EQ(of(recommend_gpu(facts), "costliest_kernel")->text.find("8 work-groups"), std::string::npos);
}

}  // namespace
}  // namespace aaco::analytics::advice
