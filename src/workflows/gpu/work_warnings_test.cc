#include "workflows/gpu/work_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using testing::HasSubstr;

GpuAnalysis with(const WorkFindings& findings) {
  GpuAnalysis analysis;
  GpuOfTrace gpu;
  gpu.device = 3;
  gpu.time.span_ns = 10'000'000;
  gpu.findings = findings;
  analysis.gpus.push_back(gpu);
  return analysis;
}
std::string said(const WorkFindings& findings) {
  std::vector<trace::Warning> warnings;
  warn_of_work(with(findings), warnings);
  EXPECT_LE(warnings.size(), 1U);
  return warnings.empty() ? "" : warnings[0].id + ": " + warnings[0].message;
}

TEST(WorkWarnings, NothingFoundNothingSaid) { EXPECT_EQ(said({}), ""); }
TEST(WorkWarnings, SlowingKernelsProveNoClock) {
  WorkFindings findings;
  findings.slowing = {4, 0.97, 1.41, 1e6};
  EXPECT_THAT(said(findings), HasSubstr("GPU 3: kernels of the same work"));
  EXPECT_THAT(said(findings), HasSubstr("1.41 times as long"));
  EXPECT_THAT(said(findings), HasSubstr("consistent with a falling clock, not proven"));
}
TEST(WorkWarnings, FewGroups) {
  WorkFindings findings;
  findings.few_groups = FewGroups{"void at::native::scan<float>(float*)", 12, 5'000'000, 8, 304};
  EXPECT_THAT(said(findings), HasSubstr("scan<float> has 8 work-groups for 304 compute units"));
  EXPECT_THAT(said(findings), HasSubstr("50.0 % of the span"));
}
TEST(WorkWarnings, TimeBeforeTheFirstWork) {
  WorkFindings findings;
  findings.lead = LeadTime{3'100'000'000, "loading the model", 0.98};
  EXPECT_THAT(said(findings), HasSubstr("runs for 3.10 s before the first work"));
  EXPECT_THAT(said(findings), HasSubstr("loading the model (98.0 %)"));
}
TEST(WorkWarnings, WithoutATimelineNoneOfThemHolds) {
  WorkFindings findings;
  findings.slowing = {4, 0.97, 1.41, 1e6};
  GpuAnalysis analysis = with(findings);
  analysis.no_timeline = analytics::trace_time::NoTimeline{"merged-runs", "several runs"};
  std::vector<trace::Warning> warnings;
  warn_of_work(analysis, warnings);
  EXPECT_TRUE(warnings.empty());
}

}  // namespace
}  // namespace aaco::workflows
