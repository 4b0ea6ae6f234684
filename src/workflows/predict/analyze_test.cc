#include "workflows/analyze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"
#include "tests/support/shipped_device.h"
#include "workflows/predict.h"

namespace aaco::workflows {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Analyze : public testing::Test {
 protected:
  core::Result<report::AnalysisReport> of(const std::string& hardware, const std::string& fallback = {},
                                          const std::string& provider = {}) {
    AnalyzeRequest request;
    request.model.name = model_;
    request.model.batch = 1;
    request.hardware = hardware;
    request.conditions = conditions_;
    request.fallback = fallback;
    request.provider = provider;
    return analyze(request, lake_.services);
  }
  std::string refusal(const std::string& hardware, const std::string& fallback = {}, const std::string& provider = {}) {
    const auto made = of(hardware, fallback, provider);
    return made ? "accepted" : made.error().text();
  }
  Lake lake_;
  std::string model_ = "zoo:mlp";
  estimation::Conditions conditions_;
};

TEST_F(Analyze, ASmallerTypeMovesFewerBytes) {
  const auto whole = of("h100");
  conditions_.dtype = "FP16";
  const auto half = of("h100");
  ASSERT_TRUE(whole && half);
  EXPECT_EQ(half->dtype, "fp16");
  EXPECT_EQ(half->estimate.memory_parts.weight_bytes * 2, whole->estimate.memory_parts.weight_bytes);
  EXPECT_LT(half->estimate.latency.value, whole->estimate.latency.value);
}
TEST_F(Analyze, EagerFrameworksDoNotFuse) {
  const auto fused = of("h100");
  conditions_.eager = true;
  const auto eager = of("h100");
  ASSERT_TRUE(fused && eager);
  EXPECT_GT(fused->estimate.fused_nodes, 0);
  EXPECT_EQ(eager->estimate.fused_nodes, 0);
  EXPECT_GT(eager->estimate.latency.value, fused->estimate.latency.value);
}
TEST_F(Analyze, AdvisesCalibrationOnlyWhereOneWouldBeUsed) {
  EXPECT_THAT(of("h100")->estimate.notes, Contains(HasSubstr("no calibration for this device")));
  conditions_.best = estimation::Level::theoretical;
  EXPECT_THAT(of("h100")->estimate.notes, Not(Contains(HasSubstr("no calibration for this device"))));
}
TEST_F(Analyze, UnsupportedOperatorsRunOnTheFallback) {
  const auto made = of("google_coral_edge_tpu_8mb", "amd_epyc_9654_96c");
  ASSERT_TRUE(made) << made.error().text();
  ASSERT_TRUE(made->partition);
  EXPECT_EQ(made->partition->backend, "edgetpu");
  EXPECT_EQ(made->estimate.device_id, "google_coral_edge_tpu_8mb");
  EXPECT_THAT(made->estimate.notes, Contains(HasSubstr("everything runs on"))) << "float32 is not one of its types";
  conditions_.dtype = "int8";
  EXPECT_THAT(of("google_coral_edge_tpu_8mb", "amd_epyc_9654_96c")->estimate.notes,
              Not(Contains(HasSubstr("everything runs on"))));
}
TEST_F(Analyze, RefusesUnknownDevicesAndModels) {
  EXPECT_THAT(refusal("nosuch"), HasSubstr("nosuch"));
  model_ = "zoo:nosuch";
  EXPECT_THAT(refusal("h100"), HasSubstr("the zoo has no model 'nosuch'"));
}
TEST_F(Analyze, RefusesUnknownTypesAndImpossiblePowerCaps) {
  conditions_.dtype = "fp7";
  EXPECT_NE(refusal("h100"), "accepted");
  conditions_.dtype = "";
  conditions_.power_cap_watts = 1;
  EXPECT_NE(refusal("h100"), "accepted");
  conditions_.power_cap_watts = 500;
  EXPECT_EQ(refusal("h100"), "accepted");
}
TEST_F(Analyze, RefusesAProviderWithoutAFallback) {
  EXPECT_THAT(refusal("h100", "", "tensorrt"), HasSubstr("--provider requires --fallback"));
}
TEST_F(Analyze, RefusesAFallbackThatIsTheDevice) {
  EXPECT_THAT(refusal("h100", "nvidia_h100_sxm5_80gb", "tensorrt"), HasSubstr("--fallback is the same device"));
}
TEST_F(Analyze, RefusesAFallbackWithoutAListOfOperators) {
  EXPECT_THAT(refusal("h100", "amd_epyc_9654_96c"), HasSubstr("no list of operators that nvidia_h100_sxm5_80gb supports"));
  EXPECT_EQ(refusal("h100", "amd_epyc_9654_96c", "tensorrt"), "accepted");
}
TEST_F(Analyze, RefusesUnknownProvidersAndThoseOfOtherDevices) {
  EXPECT_THAT(refusal("h100", "amd_epyc_9654_96c", "nosuch"), HasSubstr("unknown provider 'nosuch'"));
  EXPECT_THAT(refusal("h100", "amd_epyc_9654_96c", "edgetpu"), HasSubstr("provider edgetpu does not support nvidia_h100"));
}
TEST(AnalysisFormats, RefusesUnknownNames) {
  EXPECT_EQ(analysis_format("md"), AnalysisFormat::markdown);
  EXPECT_FALSE(analysis_format("markdown"));
  EXPECT_FALSE(analysis_format(""));
}

}  // namespace
}  // namespace aaco::workflows
