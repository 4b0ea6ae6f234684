#include "workflows/session_report/report_trace.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "report/render.h"
#include "tracelake/bundle.h"
#include "workflows/timeline_levels.h"
#include "workflows/timeline_window.h"

namespace aaco::workflows {
namespace {

class ReportTrace : public ::testing::Test {
 protected:
  static constexpr std::int64_t kStepNs = 10'000;

  // A launch and a kernel per step; with levels of detail where there are enough.
  report::ReportModel make(std::int64_t kernels, const std::string& kind = "import") {
    trace::SessionManifest of;
    of.id.text = "20261121T081530Z-3f9a1c";
    of.kind = kind;
    of.created_realtime_ns = 1'795'248'930'000'000'000;
    of.phases = {{"trace", 1'000, 1'000 + kernels * kStepNs}};
    auto writer = *tracelake::BundleWriter::create(core::join_path(folder_.path(), "sessions"), of);
    trace::ApiCallRow call;
    trace::KernelRow kernel;
    call.domain = writer->sink().name("hip"), call.name = writer->sink().name("hipLaunchKernel");
    kernel.name = writer->sink().name("void gemm_kernel<float>(int)");
    for (std::int64_t i = 0; i < kernels; ++i) {
      call.start_ns = 1'000 + i * kStepNs, call.end_ns = call.start_ns + 2'000;
      kernel.start_ns = call.start_ns + 4'000, kernel.end_ns = kernel.start_ns + 3'000;
      call.correlation_id = kernel.correlation_id = static_cast<std::uint64_t>(i) + 1;
      writer->sink().add(call);
      writer->sink().add(kernel);
    }
    EXPECT_TRUE(writer->flush());
    const auto plan = analytics::levels::plan_levels(2 * kernels, kernels * kStepNs);
    EXPECT_TRUE(store_levels(writer->path(), plan, writer->sink(), [] { return core::Status(); }));
    if (!plan.empty()) of.outcome.rows = core::Json::object({{"timeline", plan_json(plan)}});
    path_ = *writer->close(of);
    report::ReportModel model;
    model.session = *tracelake::read_manifest(path_);
    return model;
  }

  core::TemporaryDirectory folder_ = *core::TemporaryDirectory::make(::testing::TempDir(), "aaco-report-trace");
  std::string path_;
};

TEST_F(ReportTrace, ASmallTraceIsOnThePageAsItIs) {
  auto model = make(100);
  ASSERT_TRUE(fill_trace(model, path_));
  const auto& trace = model.sections.trace;
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->event_count, 200);
  ASSERT_EQ(trace->layers.size(), 1U);
  EXPECT_EQ(trace->layers[0].resolution_ns, 0);
  EXPECT_EQ(trace->layers[0].rows.size(), 200U);
  EXPECT_EQ(trace->layers[0].rows[0].start_ns, 0);
}
TEST_F(ReportTrace, KernelsHaveTheShortNamesOfTheReport) {
  auto model = make(2);
  report::TimeShare kernel;
  kernel.name = "void gemm_kernel<float>(int)";
  kernel.short_name = "GEMM f32";
  model.kernels = {kernel};
  ASSERT_TRUE(fill_trace(model, path_));
  const auto& names = model.sections.trace->names;
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].short_text, "");
  EXPECT_EQ(names[1].short_text, "GEMM f32");
  EXPECT_EQ(names[1].text, kernel.name);
}
TEST_F(ReportTrace, ALaunchAndItsKernelShareALink) {
  auto model = make(2);
  ASSERT_TRUE(fill_trace(model, path_));
  const auto& rows = model.sections.trace->layers[0].rows;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].link, rows[2].link);
  EXPECT_EQ(rows[1].link, rows[3].link);
  EXPECT_NE(rows[0].link, rows[1].link);
}
TEST_F(ReportTrace, ALargeTraceIsAnOverviewWithDetailAroundItsGaps) {
  auto model = make(100'000);
  report::Gaps gaps;
  report::Gaps::Gap gap;
  gap.start_ns = 500'000'000, gap.length_ns = 100'000;
  gaps.longest = {gap};
  model.sections.gaps = gaps;
  ASSERT_TRUE(fill_trace(model, path_));
  const auto& trace = model.sections.trace;
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->event_count, 200'000);
  ASSERT_EQ(trace->layers.size(), 2U);
  EXPECT_GT(trace->layers[0].resolution_ns, 0);
  EXPECT_EQ(trace->layers[1].resolution_ns, 0);
  EXPECT_LT(trace->layers[1].from_ns, 500'000'000 - 1'000);
  std::size_t rows = 0;
  for (const auto& layer : trace->layers) rows += layer.rows.size();
  EXPECT_LE(rows, 60'000U);
  EXPECT_LT(to_json(*trace).dump(-1).size(), 3'000'000U);
}
TEST_F(ReportTrace, ARunKeepsItsOwnTimeline) {
  auto model = make(10, "run");
  ASSERT_TRUE(fill_trace(model, path_));
  EXPECT_FALSE(model.sections.trace);
}
TEST_F(ReportTrace, ATraceWithoutTimeHasNoTimeline) {
  auto model = make(0);
  ASSERT_TRUE(fill_trace(model, path_));
  EXPECT_FALSE(model.sections.trace);
}

}  // namespace
}  // namespace aaco::workflows
