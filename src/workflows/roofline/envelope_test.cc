#include "workflows/envelope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"
#include "tests/support/shipped_device.h"
#include "workflows/envelope_json.h"

namespace aaco::workflows {
namespace {

using core::Json;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kDevice = "nvidia_h100_sxm5_80gb";

struct Kernel {
  double flops = 0, bytes = 0, time_ns = 0;
  const char* work_from = "shapes";
  const char* type = "float32";
};

// A trace of one GPU whose analysis stored these kernels.
MadeSession trace_of(const std::vector<Kernel>& kernels, const std::string& device = kDevice) {
  Json list = Json::array();
  for (const Kernel& kernel : kernels)
    list.push(Json::object({{"name", "kernel"},
                            {"family", "gemm"},
                            {"dtype", kernel.type},
                            {"count", 1},
                            {"flops", kernel.flops},
                            {"bytes", kernel.bytes},
                            {"time_ns", kernel.time_ns},
                            {"work_from", kernel.work_from}}));
  const Json roofline = Json::object({{"device_id", device}, {"device_name", "GPU " + device}, {"kernels", std::move(list)}});
  MadeSession made;
  made.kind = "import";
  made.outcome = Json::object({{"gpu", Json::object({{"gpus", Json::array({Json::object({{"roofline", roofline}})})}})}});
  return made;
}

class EnvelopeTest : public testing::Test {
 protected:
  EnvelopeTest() { request_.options.replicates = 50; }
  // Each run has kernels at 10 TFLOP/s of very different intensity, and kernels at 1 TB/s, give or take some per cent.
  void add_runs(int count) {
    for (int i = 0; i < count; ++i) {
      const double wobble = 1 + 0.001 * i;
      lake_.make(
          trace_of({{10e9, 1e3, 1e6 * wobble}, {10e9, 1e6, 1e6 * wobble}, {1e3, 1e9, 1e6 * wobble}, {1e6, 1e9, 1e6 * wobble}}));
    }
  }
  EnvelopeOutcome fitted() {
    auto made = fit_envelopes(request_, lake_.services);
    EXPECT_TRUE(made) << made.error().text();
    return made ? *std::move(made) : EnvelopeOutcome();
  }
  std::string refusal() {
    const auto made = fit_envelopes(request_, lake_.services);
    return made ? "accepted" : made.error().text();
  }
  static const EnvelopeRoof& roof(const DeviceEnvelope& device, std::string_view name) {
    for (const auto& one : device.roofs)
      if (one.name == name) return one;
    throw std::runtime_error("no roof " + std::string(name));
  }
  Lake lake_;
  EnvelopeRequest request_;
};

TEST_F(EnvelopeTest, RoofsAreWhatTheRunsReached) {
  add_runs(12);
  const auto outcome = fitted();
  ASSERT_EQ(outcome.devices.size(), 1U);
  const auto& device = outcome.devices.front();
  EXPECT_TRUE(outcome.fitted());
  EXPECT_EQ(device.id, kDevice);
  EXPECT_EQ(device.sessions.size(), 12U);
  EXPECT_EQ(device.all, 48U);
  EXPECT_EQ(device.counted, 0U);
  EXPECT_NEAR(roof(device, "float32").reached.per_second.value_or(0), 10e12, 0.2e12);
  EXPECT_NEAR(roof(device, "main memory").reached.per_second.value_or(0), 1e12, 0.02e12);
  EXPECT_EQ(roof(device, "float32").stated, hardware::shipped_device(kDevice).peak_ops_per_s("float32"));
  EXPECT_LT(device.above_ratio, 0.1) << "95 % of the time lies below";
}
TEST_F(EnvelopeTest, AFewWrongTimesDoNotRaiseTheRoof) {
  add_runs(40);
  lake_.make(trace_of({{10e9, 1e3, 1e3}}));
  const auto device = fitted().devices.front();
  EXPECT_LT(roof(device, "float32").reached.per_second.value_or(0), 12e12);
  EXPECT_NEAR(roof(device, "float32").reached.highest, 1e16, 1e6) << "the highest point is shown all the same";
  EXPECT_GT(device.above_ratio, 0);
}
TEST_F(EnvelopeTest, APointAboveTheStatedRoofIsNoted) {
  for (int i = 0; i < 12; ++i) lake_.make(trace_of({{10e9, 1e2, 5e4}, {10e9, 1e4, 5e4}, {10e9, 1e6, 5e4}}));
  const auto device = fitted().devices.front();
  EXPECT_GT(roof(device, "float32").reached.per_second.value_or(0), *roof(device, "float32").stated);
  EXPECT_THAT(device.notes, Contains(HasSubstr("float32 exceeds the stated value")));
}
TEST_F(EnvelopeTest, PointsBelowTheStatedRoofAreNotNoted) {
  add_runs(12);
  EXPECT_THAT(fitted().devices.front().notes, testing::Not(Contains(HasSubstr("exceeds the stated value"))));
}
TEST_F(EnvelopeTest, CountedBytesAreMainMemoryTrafficEvenIfTheOperandsFitTheCache) {
  for (int i = 0; i < 12; ++i) lake_.make(trace_of({{1e3, 1e6, 1e3}, {1e3, 1e6, 1e3}}));
  EXPECT_NO_THROW((void)roof(fitted().devices.front(), "cached"));
  Lake counted;
  for (int i = 0; i < 12; ++i) counted.make(trace_of({{1e3, 1e6, 1e3, "counters"}, {1e3, 1e6, 1e3, "counters"}}));
  const auto device = fit_envelopes(request_, counted.services)->devices.front();
  EXPECT_EQ(device.counted, 24U);
  EXPECT_THROW((void)roof(device, "cached"), std::runtime_error);
  EXPECT_GT(roof(device, "main memory").reached.highest, 0);
}
TEST_F(EnvelopeTest, TooFewRunsHaveNoEnvelope) {
  add_runs(5);
  const auto outcome = fitted();
  EXPECT_FALSE(outcome.fitted());
  EXPECT_FALSE(roof(outcome.devices.front(), "float32").reached.per_second);
  EXPECT_FALSE(roof(outcome.devices.front(), "float32").reached.reason.empty());
  EXPECT_EQ(envelope_report(outcome.devices.front(), request_).verdict, "No envelope: too few runs.");
  EXPECT_EQ(to_json(outcome, request_)["fitted"].as_bool(), false);
}
TEST_F(EnvelopeTest, ReportComparesWithTheDataSheet) {
  add_runs(12);
  const auto report = envelope_report(fitted().devices.front(), request_);
  EXPECT_THAT(report.verdict, HasSubstr("of the stated float32 peak"));
  EXPECT_THAT(report.verdict, HasSubstr("of the stated main memory bandwidth"));
  EXPECT_THAT(report.verdict_confidence, HasSubstr("12 runs of 12 workloads, 48 points"));
}
TEST_F(EnvelopeTest, DevicesAreFittedApartThoseWithMostPointsFirst) {
  lake_.make(trace_of({{10e9, 1e3, 1e6}}, "nvidia_a10_pcie_24gb"));
  add_runs(2);
  const auto outcome = fitted();
  ASSERT_EQ(outcome.devices.size(), 2U);
  EXPECT_EQ(outcome.devices[0].id, kDevice);
  EXPECT_EQ(outcome.devices[1].all, 1U);
}
TEST_F(EnvelopeTest, ADeviceThatLeftTheRegistryHasNoStatedRoofs) {
  lake_.make(trace_of({{10e9, 1e3, 1e6}}, "acme_one"));
  const auto device = fitted().devices.front();
  EXPECT_FALSE(roof(device, "float32").stated);
  EXPECT_THAT(device.notes, Contains(HasSubstr("no longer in the hardware registry")));
}
TEST_F(EnvelopeTest, SessionsThatCountNowhereAreInTheAccount) {
  add_runs(2);
  lake_.make({});
  lake_.make(trace_of({{10e9, 1e3, 1e6}}, "nvidia_a10_pcie_24gb"));
  { const auto open = SessionDraft::begin("import", "", {}, lake_.services); }
  request_.device = "h100";
  const auto outcome = fitted();
  EXPECT_EQ(outcome.account.kept, 2);
  EXPECT_EQ(outcome.account.dropped.at("ran on another device"), 1);
  EXPECT_EQ(outcome.account.dropped.at("session is incomplete"), 1);
  EXPECT_EQ(outcome.account.dropped.size(), 3U) << "and one without FLOPs and bytes";
}
TEST_F(EnvelopeTest, ASessionNamedTwiceIsOneRun) {
  const auto made = lake_.make(trace_of({{10e9, 1e3, 1e6}}));
  request_.sessions = {made.path, made.manifest.id.text, "latest"};
  EXPECT_EQ(fitted().devices.front().sessions.size(), 1U);
}
TEST_F(EnvelopeTest, OnlyTheNewestAreTaken) {
  add_runs(4);
  request_.last = 3;
  EXPECT_EQ(fitted().devices.front().sessions.size(), 3U);
}

TEST_F(EnvelopeTest, RefusesALakeWithoutKnownWork) {
  EXPECT_THAT(refusal(), HasSubstr("no session under"));
  lake_.make({});
  EXPECT_THAT(refusal(), HasSubstr("1: no known FLOPs and bytes"));
  lake_.make(trace_of({{10e9, 1e3, 1e6}}));
  EXPECT_EQ(refusal(), "accepted");
  request_.device = "a10";
  EXPECT_THAT(refusal(), HasSubstr("1: ran on another device"));
}
TEST_F(EnvelopeTest, RefusesQuantilesOutOfRange) {
  lake_.make(trace_of({{10e9, 1e3, 1e6}}));
  for (const double quantile : {0.49, 1.0, -1.0, std::nan("")}) {
    request_.options.quantile = quantile;
    EXPECT_THAT(refusal(), HasSubstr("the quantile must be between")) << quantile;
  }
  for (const double quantile : {0.5, 0.999}) {
    request_.options.quantile = quantile;
    EXPECT_EQ(refusal(), "accepted") << quantile;
  }
}
TEST_F(EnvelopeTest, RefusesNamesTogetherWithConditions) {
  request_.sessions = {"latest"};
  request_.where = {{"tag", "x"}};
  EXPECT_THAT(refusal(), HasSubstr("mutually exclusive"));
}
TEST_F(EnvelopeTest, RefusesUnknownDevicesSessionsAndConditions) {
  request_.device = "nosuch";
  EXPECT_THAT(refusal(), HasSubstr("nosuch"));
  request_.device = "";
  request_.sessions = {"20200101-000000-aaaaaa"};
  EXPECT_NE(refusal(), "accepted");
  request_.sessions = {};
  request_.where = {{"colour", "red"}};
  EXPECT_THAT(refusal(), HasSubstr("colour"));
}

}  // namespace
}  // namespace aaco::workflows
