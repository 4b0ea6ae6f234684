#include "workflows/import/import_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One GPU all of whose kernels are attributed.
GpuAnalysis calm() {
  GpuAnalysis analysis;
  analysis.has_api_calls = analysis.has_causes = true;
  GpuOfTrace& gpu = analysis.gpus.emplace_back();
  gpu.device = 5;
  gpu.coverage = {10, 1000, 10, 1000, 0, 0, 0};
  gpu.time.kernel_count = gpu.time.work_count = 10;
  return analysis;
}

std::vector<std::string> ids(const GpuAnalysis& analysis) {
  std::vector<std::string> out;
  for (const auto& warning : trace_warnings(analysis)) out.push_back(warning.id);
  return out;
}

core::Json join(std::int64_t joined, const char* explanation) {
  return core::Json::object({{"joined_kernels_a_step", joined}, {"explanation", explanation}});
}

core::Json nodes(std::vector<core::Json> joins) {
  core::Json list = core::Json::array();
  for (auto& one : joins) list.push(std::move(one));
  return core::Json::object({{"source", "model.onnx"}, {"joins", std::move(list)}});
}

TEST(TraceWarnings, OfAWholeTraceThereAreNone) {
  EXPECT_THAT(trace_warnings(calm()), IsEmpty());
  EXPECT_THAT(trace_warnings(GpuAnalysis()), IsEmpty());
}

TEST(TraceWarnings, LowAttributionIsOfEachGpuWithItsReason) {
  GpuAnalysis analysis = calm();
  analysis.gpus[0].coverage = {10, 1000, 1, 100, 900, 0, 0};
  analysis.gpus.push_back(analysis.gpus[0]);
  analysis.gpus[1].rank = 1;
  const auto warnings = trace_warnings(analysis);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0].id, "attribution.low");
  EXPECT_THAT(warnings[0].message, HasSubstr("GPU 5: 1 of 10 kernels"));
  EXPECT_THAT(warnings[0].message, HasSubstr("10.0 % of kernel time"));
  EXPECT_THAT(warnings[0].message, HasSubstr("graph launches hide"));
  EXPECT_THAT(warnings[1].message, HasSubstr("rank 1"));
}

TEST(TraceWarnings, WithoutCallsOneIsEnough) {
  GpuAnalysis analysis = calm();
  analysis.has_api_calls = false;
  analysis.gpus[0].coverage = {10, 1000, 0, 0, 0, 0, 1000};
  analysis.gpus.push_back(analysis.gpus[0]);
  EXPECT_THAT(ids(analysis), ElementsAre("attribution.no_launches"));
}

TEST(TraceWarnings, AGraphThatNoKernelFits) {
  GpuAnalysis analysis = calm();
  analysis.nodes = nodes({join(0, "other shapes"), join(0, "other order")});
  const auto warnings = trace_warnings(analysis);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].id, "attribution.graph_unlike");
  EXPECT_THAT(warnings[0].message, HasSubstr("model.onnx: other order"));
  analysis.nodes = nodes({join(0, "other shapes"), join(7, "")});
  EXPECT_THAT(trace_warnings(analysis), IsEmpty()) << "one of the devices fitted";
  analysis.nodes = nodes({join(0, "")});
  EXPECT_THAT(trace_warnings(analysis), IsEmpty());
}

TEST(TraceWarnings, KernelsBeforeTheirLaunch) {
  GpuAnalysis analysis = calm();
  analysis.gpus[0].early_kernels = 3;
  analysis.gpus[0].earliest_ns = 45'000;
  const auto warnings = trace_warnings(analysis);
  ASSERT_THAT(ids(analysis), ElementsAre("gpu.kernels_before_launch"));
  EXPECT_THAT(warnings[0].message, HasSubstr("GPU 5: 3 of 10 kernels start before"));
  EXPECT_THAT(warnings[0].message, HasSubstr("45.0 \u00B5s"));
}

TEST(TraceWarnings, ProcessesThatShareAGpu) {
  GpuAnalysis analysis = calm();
  analysis.gpus[0].ranks = {0};
  EXPECT_THAT(trace_warnings(analysis), IsEmpty());
  analysis.gpus[0].ranks = {0, 1};
  EXPECT_THAT(ids(analysis), ElementsAre("gpu.shared"));
}

TEST(TraceWarnings, OddTimesStrayWorkAndRepeats) {
  GpuAnalysis analysis = calm();
  auto& gpu = analysis.gpus[0];
  gpu.time.invalid_count = 2;
  gpu.time.out_of_order_count = 1;
  gpu.time.work_before_longest_idle = 9;
  gpu.time.longest_idle_ns = 60'000'000'000;
  gpu.time.span_ns = 61'000'000'000;
  gpu.repeated_kernels = 4;
  const auto warnings = trace_warnings(analysis);
  ASSERT_THAT(ids(analysis), ElementsAre("gpu.odd_times", "gpu.stray_work", "gpu.repeated_kernels"));
  EXPECT_THAT(warnings[0].message, HasSubstr("GPU 5: 3 device activities"));
  EXPECT_THAT(warnings[1].message, HasSubstr("1 of 10 device activities are 60.0 s after all others"));
  EXPECT_THAT(warnings[2].message, HasSubstr("4 of 10 kernels are duplicates"));
}

}  // namespace
}  // namespace aaco::workflows
