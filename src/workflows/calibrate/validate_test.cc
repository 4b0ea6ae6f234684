#include "workflows/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "estimation/calibration.h"
#include "tests/support/made_session.h"
#include "tests/support/shipped_device.h"

namespace aaco::workflows {
namespace {

using estimation::Level;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kHeader = "device,dtype,batch,m,n,k,latency_us,power_w,source\n";

class Validate : public testing::Test {
 protected:
  Validate() { request_.hardware = "h100"; }
  static estimation::LatencyEstimate expected(std::int64_t size) {
    const estimation::Kernel kernel{estimation::GemmShape{1, 128, size, size}, "bf16"};
    return estimate(kernel, estimation::facts_of(hardware::shipped_device("h100")), nullptr, Level::theoretical).value();
  }
  // A product of 128 x size x size that took so long.
  static std::string row(std::int64_t size, double seconds, const char* device = "H100-SXM-80GB") {
    char text[160];
    std::snprintf(text, sizeof text, "%s,bfloat16,1,128,%ld,%ld,%.9g,300,made\n", device, static_cast<long>(size),
                  static_cast<long>(size), seconds * 1e6);
    return text;
  }
  void table(const std::string& rows) { request_.measurements = {lake_.file("table.csv", kHeader + rows)}; }
  ValidateOutcome outcome() {
    auto made = validate(request_, lake_.services);
    EXPECT_TRUE(made) << made.error().text();
    return made ? *std::move(made) : ValidateOutcome();
  }
  ValidateOutcome theoretical(const std::string& rows) {
    table(rows);
    request_.level = Level::theoretical;
    return outcome();
  }
  std::string refusal() {
    const auto made = validate(request_, lake_.services);
    return made ? "accepted" : made.error().text();
  }
  Lake lake_;
  ValidateRequest request_;
};

TEST_F(Validate, ExactEstimatesHaveNoErrorAndAreInsideTheirBounds) {
  const auto made = theoretical(row(1024, expected(1024).seconds) + row(4096, expected(4096).seconds));
  EXPECT_EQ(made.latency.all.count, 2);
  EXPECT_NEAR(made.latency.all.mean_ape->value, 0, 1e-6);
  EXPECT_EQ(made.latency.all.coverage90->value, 1);
  EXPECT_EQ(made.levels, (std::map<std::string, std::int64_t>{{"THEORETICAL", 2}}));
}
TEST_F(Validate, CoverageIsTheShareInsideTheBounds) {
  const auto small = expected(1024), large = expected(4096);
  const auto made = theoretical(row(1024, small.upper * 0.99) + row(1024, small.upper * 1.01) + row(4096, large.lower * 1.01) +
                                row(4096, large.upper * 1.01));
  EXPECT_EQ(made.latency.all.coverage90->value, 0.5);
  EXPECT_EQ(made.latency.all.sites, 2);
}
TEST_F(Validate, ErrorIsRelativeToTheMeasuredTime) {
  const auto made = theoretical(row(4096, 2 * expected(4096).seconds));
  EXPECT_NEAR(made.latency.all.mean_ape->value, 0.5, 1e-6);
  EXPECT_NEAR(made.latency.all.bias->value, -0.5, 1e-6) << "the estimate is too low";
  EXPECT_TRUE(made.latency.classes.contains("gemm bf16"));
}
TEST_F(Validate, TimesThatAreImpossiblyShortAreRejectedAndScoredApart) {
  const auto made = theoretical(row(1024, expected(1024).seconds) + row(4096, 1e-9));
  EXPECT_EQ(made.rejected, 1);
  EXPECT_EQ(made.latency.all.count, 1);
  ASSERT_TRUE(made.with_rejected);
  EXPECT_EQ(made.with_rejected->all.count, 2);
  EXPECT_GT(made.with_rejected->all.mean_ape->value, 1);
  EXPECT_THAT(made.notes, Contains(HasSubstr("table.csv:3")));
  EXPECT_FALSE(theoretical(row(1024, expected(1024).seconds)).with_rejected);
}
TEST_F(Validate, AnEstimateOfALowerLevelDoesNotCount) {
  table(row(1024, 1e-4) + row(4096, 1e-3));
  const auto made = outcome();
  EXPECT_EQ(made.level, Level::calibrated);
  EXPECT_EQ(made.latency.all.count, 0);
  EXPECT_EQ(made.latency.all.without_estimate, 2);
  EXPECT_TRUE(made.levels.empty());
  EXPECT_THAT(made.notes, Contains(HasSubstr("no calibration for nvidia_h100")));
}
TEST_F(Validate, ResidualsListEveryRow) {
  request_.residuals = lake_.in("residuals.csv");
  theoretical(row(1024, expected(1024).seconds) + row(4096, 1e-9));
  const std::string text = core::read_file(request_.residuals, 1 << 20).value();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("table.csv:2,gemm bf16"));
  EXPECT_THAT(text, testing::EndsWith(",1\n")) << "the rejected row is marked";
}
TEST_F(Validate, FoldsWithoutASplitAreNoted) {
  request_.folds = 3;
  EXPECT_THAT(theoretical(row(1024, 1e-4)).notes, Contains(HasSubstr("--folds has no effect")));
}
TEST_F(Validate, RowsWithoutAPeakHaveNoEstimate) {
  const auto made = theoretical(row(1024, 1e-4) + "h100,int4,1,64,64,64,10,,made\n");
  EXPECT_EQ(made.latency.all.count, 1);
  EXPECT_EQ(made.latency.all.without_estimate, 1);
  EXPECT_THAT(made.notes, Contains(HasSubstr("gemm int4")));
}

TEST_F(Validate, RefusesNothingToValidateAgainst) { EXPECT_THAT(refusal(), HasSubstr("no measurements to validate against")); }
TEST_F(Validate, RefusesLevelsThatASplitCannotGive) {
  table(row(1024, 1e-4));
  const auto refused = [&](Split split, Level level) {
    request_.split = split;
    request_.level = level;
    return refusal();
  };
  EXPECT_THAT(refused(Split::model, Level::theoretical), HasSubstr("--split model requires calibrated"));
  EXPECT_THAT(refused(Split::site, Level::interpolated), HasSubstr("--split site requires calibrated"));
  EXPECT_THAT(refused(Split::device, Level::calibrated), HasSubstr("--split device requires interpolated"));
  EXPECT_EQ(refused(Split::none, Level::interpolated), "accepted");
}
TEST_F(Validate, RefusesFewerThanTwoFolds) {
  table(row(1024, 1e-4));
  for (const int folds : {1, 0, -1}) {
    request_.folds = folds;
    EXPECT_THAT(refusal(), HasSubstr("--folds must be at least 2")) << folds;
  }
}
TEST_F(Validate, RefusesSplitsThatTheRowsDoNotAllow) {
  table(row(1024, 1e-4) + row(1024, 1.1e-4));
  request_.split = Split::site;
  EXPECT_THAT(refusal(), HasSubstr("only one site for nvidia_h100"));
  request_.split = Split::device;
  EXPECT_THAT(refusal(), HasSubstr("no other device to estimate nvidia_h100"));
  request_.split = Split::model;
  EXPECT_THAT(refusal(), HasSubstr("no rows for nvidia_h100"));
}
TEST_F(Validate, RefusesRowsOfOtherDevices) {
  table(row(1024, 1e-4, "MI300X"));
  EXPECT_THAT(refusal(), HasSubstr("the files contain no measurements for nvidia_h100"));
}
TEST_F(Validate, RefusesUnknownDevicesAndLenders) {
  table(row(1024, 1e-4));
  request_.calibration_from = {"nosuch"};
  EXPECT_THAT(refusal(), HasSubstr("nosuch"));
  request_.calibration_from = {};
  request_.hardware = "nosuch";
  EXPECT_THAT(refusal(), HasSubstr("nosuch"));
}
TEST_F(Validate, RefusesResidualsInAMissingFolder) {
  table(row(1024, 1e-4));
  request_.residuals = lake_.in("missing/out.csv");
  EXPECT_THAT(refusal(), HasSubstr("is not a directory"));
}
TEST_F(Validate, RefusesDamagedTables) {
  request_.measurements = {lake_.file("bad.csv", "device,dtype,m,n,k,latency_us\nh100,bf16,64,64,64,-1\n")};
  EXPECT_THAT(refusal(), HasSubstr("bad.csv:2"));
  request_.measurements = {lake_.in("missing.csv")};
  EXPECT_THAT(refusal(), HasSubstr("missing.csv"));
}

}  // namespace
}  // namespace aaco::workflows
