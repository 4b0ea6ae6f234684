#include "workflows/gpu/work_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;
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
TEST(WorkWarnings, FewEarlyKernelsMayBeWrongLinks) {
  WorkFindings findings;
  findings.order = {1000, 9, 2'000'000};
  EXPECT_EQ(said(findings), "");
  findings.order.early_count = 10;
  EXPECT_THAT(said(findings),
              HasSubstr("10 of 1000 kernels and copies begin before the call that launched them, by up to 2.00 ms"));
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

Json job(std::initializer_list<int> ranks, int world_size) {
  Json files = Json::array();
  for (const int rank : ranks)
    files.push(
        Json::object({{"facts", Json::object({{"distributed", Json::object({{"rank", rank}, {"world_size", world_size}})}})}}));
  return files;
}
TEST(MissingRanks, AreNamed) {
  const auto missing = missing_ranks(job({0, 3}, 4));
  ASSERT_TRUE(missing);
  EXPECT_THAT(missing->message, HasSubstr("the job has 4 ranks, and 2 of them have no trace here (1, 2)"));
  EXPECT_THAT(missing_ranks(job({0, 1}, 64))->message, HasSubstr("(2, 3, 4, 5, 6, 7, 8, 9, ...)"));
}
TEST(MissingRanks, OneRankAllRanksOrNoJobSayNothing) {
  EXPECT_FALSE(missing_ranks(job({2}, 4)));
  EXPECT_FALSE(missing_ranks(job({0, 1}, 2)));
  EXPECT_FALSE(missing_ranks(job({0, 5}, 2)));
  EXPECT_FALSE(missing_ranks(Json::array()));
}

}  // namespace
}  // namespace aaco::workflows
