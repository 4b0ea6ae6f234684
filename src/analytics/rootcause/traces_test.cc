#include <gtest/gtest.h>

#include <cmath>

#include "analytics/trace_cause.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::rootcause {
namespace {

TraceSide calm() {
  TraceSide side;
  side.compute_ns = 800;
  side.exposed_copy_ns = 50;
  side.idle_ns = {{"host_late", 100}, {"unknown", 50}};
  side.span_ns = 1000;
  side.kernels = {{"gemm", {10, 500}}, {"relu", {20, 200}}, {"softmax", {5, 100}}};
  return side;
}

double sum_of(const Decomposition& difference) {
  double sum = difference.unexplained_ns;
  for (const Part& part : difference.parts) sum += part.ns;
  return sum;
}

std::string first(const TraceSide& b) {
  static const auto book = *bottleneck::RuleBook::load(AACO_SOURCE_DIR "/data/rules/bottleneck.yaml");
  const TraceSide a = calm();
  const Decomposition difference = decompose_traces(a, b);
  EXPECT_NEAR(sum_of(difference), b.span_ns - a.span_ns, 1e-6);
  const auto causes = find_trace_causes(a, b, difference, book);
  return causes.empty() ? "" : causes.front().id;
}

TEST(Traces, EqualTracesHaveNoCause) { EXPECT_EQ(first(calm()), ""); }

std::vector<Cause> causes_of(const TraceSide& a, const TraceSide& b) {
  static const auto book = *bottleneck::RuleBook::load(AACO_SOURCE_DIR "/data/rules/bottleneck.yaml");
  return find_trace_causes(a, b, decompose_traces(a, b), book);
}

TraceSide all_slower(double times) {
  TraceSide b = calm();
  for (auto& [name, kernel] : b.kernels) kernel.sum_ns *= times;
  b.compute_ns *= times;
  b.span_ns += b.compute_ns - 800;
  return b;
}

// No clock was recorded: no cause is made of it.
TEST(Traces, AllKernelsAlikeAreNoClockWithoutItsData) {
  const auto causes = causes_of(calm(), all_slower(1.5));
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes.front().id, "kernels_alike");
  EXPECT_EQ(causes.front().title, "most kernels slowed down alike");
  ASSERT_GE(causes.front().evidence.size(), 2U);
  EXPECT_NE(causes.front().evidence[1].find("clocks were not recorded"), std::string::npos);
  EXPECT_EQ(causes_of(calm(), all_slower(0.5)).front().title, "most kernels sped up alike");
}

TEST(Traces, RecordedClockIsTheCauseWhereItMoved) {
  TraceSide a = calm(), b = all_slower(1.5);
  a.clock_hz = 2.1e9;
  b.clock_hz = 1.4e9;
  const auto causes = causes_of(a, b);
  EXPECT_EQ(causes.front().id, "clock_throttling");
  EXPECT_NE(causes.front().evidence[1].find("1400 MHz instead of 2100 MHz"), std::string::npos);
  b.clock_hz = 2.1e9;
  EXPECT_EQ(causes_of(a, b).front().id, "kernels_alike") << "the clock stayed";
  b.clock_hz.reset();
  EXPECT_EQ(causes_of(a, b).front().id, "kernels_alike") << "known on one side";
}

TEST(Traces, FasterKernelsAreNoLowerClock) {
  TraceSide b = calm();
  b.kernels["gemm"].sum_ns = 200;
  b.compute_ns = 500;
  b.span_ns = 700;
  const auto causes = causes_of(calm(), b);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes.front().id, "faster_kernels");
  EXPECT_EQ(causes.front().title, "faster kernels");
}

TEST(Traces, OneKernelSlowerMeansThatKernel) {
  TraceSide b = calm();
  b.kernels["relu"].sum_ns = 500;
  b.compute_ns = 1100;
  b.span_ns = 1300;
  EXPECT_EQ(first(b), "slower_kernels");
  EXPECT_EQ(decompose_traces(calm(), b).parts.front().id, "kernel:relu");
}

TEST(Traces, DominantKernelIsNotTheClock) {
  TraceSide b = calm();
  b.kernels["gemm"].sum_ns = 900;
  b.compute_ns = 1200;
  b.span_ns = 1400;
  EXPECT_EQ(first(b), "slower_kernels");
}

TEST(Traces, SingleKernelCannotShowTheClock) {
  TraceSide a;
  a.span_ns = a.compute_ns = 1000;
  a.kernels = {{"spin", {10, 1000}}};
  TraceSide b = a;
  b.span_ns = b.compute_ns = b.kernels["spin"].sum_ns = 2000;
  const auto causes = causes_of(a, b);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].id, "slower_kernels");
}

TEST(Traces, MoreShorterKernelsMeanLaunches) {
  TraceSide b = calm();
  for (auto& [name, kernel] : b.kernels) kernel.count *= 4;
  b.idle_ns["unknown"] = 450;
  b.span_ns = 1400;
  EXPECT_EQ(first(b), "more_launches");
}

TEST(Traces, IdleMeansHostAndCopiesMeanCopies) {
  TraceSide b = calm();
  b.idle_ns["host_late"] = 600;
  b.span_ns = 1500;
  EXPECT_EQ(first(b), "host_waiting");
  b = calm();
  b.exposed_copy_ns = 650;
  b.span_ns = 1600;
  EXPECT_EQ(first(b), "copy_bound");
  b = calm();
  b.exposed_collective_ns = 400;
  b.span_ns = 1400;
  EXPECT_EQ(first(b), "communication_bound");
}

TEST(Traces, TheActivityThatGrewIsNamed) {
  TraceSide a = calm(), b = calm();
  a.idle_ns["data-loading"] = 50;
  a.span_ns += 50;
  a.activities = {{"data-loading", "loading and preparing data"}, {"gc", "garbage collection"}};
  b.idle_ns["data-loading"] = 450;
  b.idle_ns["gc"] = 20;
  b.idle_ns["host_late"] = 90;
  b.span_ns = 1000 + 450 + 20 - 10;
  auto causes = causes_of(a, b);
  ASSERT_EQ(causes.size(), 2U) << "host_late shrank";
  EXPECT_EQ(causes[0].id, "data-loading");
  EXPECT_EQ(causes[0].title, "loading and preparing data");
  EXPECT_EQ(causes[1].id, "gc") << "known to one side only";
  causes = causes_of(b, a);
  EXPECT_EQ(causes[0].id, "data-loading");
  EXPECT_EQ(causes[0].title, "less time in loading and preparing data");
}

// Work that was launched and waited on the device is not what the host was late with.
TEST(Traces, SeparatesHeldBackWork) {
  TraceSide a = calm(), b = calm();
  a.held = {{"stream-event", "launched work held back by an event"}};
  b.held = a.held;
  a.idle_ns["stream-event"] = 100;
  a.span_ns = 1100;
  b.idle_ns["stream-event"] = 700;
  b.idle_ns["host_late"] = 200;
  b.span_ns = 1800;
  auto causes = causes_of(a, b);
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].id, "dependency_bound");
  EXPECT_NEAR(causes[0].probability, 600.0 / 700, 1e-9);
  ASSERT_GE(causes[0].evidence.size(), 2U);
  EXPECT_EQ(causes[0].evidence[1], "launched work held back by an event: 700 ns instead of 100 ns");
  EXPECT_EQ(causes[1].id, "host_waiting");
  EXPECT_NEAR(causes[1].probability, 100.0 / 700, 1e-9);
  const Decomposition difference = decompose_traces(a, b);
  EXPECT_NEAR(sum_of(difference), 700, 1e-6);
  EXPECT_EQ(difference.parts.front().title, "idle, held back on the device, stream-event");
  causes = causes_of(b, a);
  EXPECT_EQ(causes[0].id, "dependency_bound");
  EXPECT_EQ(causes[0].title, "less time in dependencies on the device");
}

// More launches do not explain that launched work waited.
TEST(Traces, MoreLaunchesDoNotHoldWorkBack) {
  TraceSide a = calm(), b = calm();
  b.held = {{"peer-device", "launched work that waits for another device's work"}};
  for (auto& [name, kernel] : b.kernels) kernel.count *= 4;
  b.idle_ns["peer-device"] = 500;
  b.span_ns = 1500;
  EXPECT_EQ(causes_of(a, b).front().id, "dependency_bound");
}

TEST(Traces, ShortGapsAreNoActivity) {
  TraceSide a = calm(), b = calm();
  a.activities = {{"data-loading", "loading and preparing data"}};
  a.idle_ns["data-loading"] = 200;
  a.span_ns = 1200;
  b.idle_ns["data-loading"] = 100;
  b.idle_ns["short gaps"] = 400;
  b.span_ns = 1500;
  const auto causes = causes_of(a, b);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].id, "host_waiting") << "data loading took less";
}

TEST(Traces, RemainderIsUnexplained) {
  TraceSide b = calm();
  b.span_ns = 1300;
  const Decomposition difference = decompose_traces(calm(), b);
  EXPECT_NEAR(difference.unexplained_ns, 300, 1e-9);
}

TEST(Traces, UnattributedComputeIsUnexplained) {
  TraceSide b = calm();
  b.compute_ns = 900;
  b.span_ns = 1100;
  EXPECT_NEAR(decompose_traces(calm(), b).unexplained_ns, 100, 1e-9);
}

}  // namespace
}  // namespace aaco::analytics::rootcause
