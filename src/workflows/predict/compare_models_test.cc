#include "workflows/compare_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"

namespace aaco::workflows {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Rank = CompareModelsRequest::Rank;

class CompareModels : public testing::Test {
 protected:
  CompareModels() {
    request_.models = {"zoo:mlp"};
    request_.base.conditions.best = estimation::Level::theoretical;
  }
  std::vector<ComparedPoint> points() {
    auto made = compare_models(request_, lake_.services);
    EXPECT_TRUE(made) << made.error().text();
    return made ? *std::move(made) : std::vector<ComparedPoint>();
  }
  std::vector<std::string> ranking() {
    std::vector<std::string> names;
    for (const auto& point : points()) names.push_back(point.hardware);
    return names;
  }
  std::string refusal() {
    const auto made = compare_models(request_, lake_.services);
    return made ? "accepted" : made.error().text();
  }
  Lake lake_;
  CompareModelsRequest request_;
};

constexpr const char* kWide = "zoo:mlp,width=65536";  // 16.2 GiB of weights

TEST_F(CompareModels, TheFasterDeviceIsFirstWhicheverIsNamedFirst) {
  request_.models = {kWide};
  request_.hardware = {"nvidia_a10_pcie_24gb", "nvidia_h100_sxm5_80gb"};
  EXPECT_THAT(ranking(), ElementsAre("nvidia_h100_sxm5_80gb", "nvidia_a10_pcie_24gb"));
  request_.hardware = {"nvidia_h100_sxm5_80gb", "nvidia_a10_pcie_24gb"};
  EXPECT_THAT(ranking(), ElementsAre("nvidia_h100_sxm5_80gb", "nvidia_a10_pcie_24gb"));
}
TEST_F(CompareModels, HighestThroughputIsFirst) {
  request_.hardware = {"nvidia_h100_sxm5_80gb"};
  request_.batches = {1, 512};
  request_.rank = Rank::throughput;
  EXPECT_EQ(points().front().batch, 512);
  request_.rank = Rank::latency;
  EXPECT_EQ(points().front().batch, 1);
  request_.rank = Rank::memory;
  EXPECT_EQ(points().front().batch, 1);
}
TEST_F(CompareModels, AModelThatDoesNotFitRanksBehindASlowerDeviceThatHasRoom) {
  request_.models = {kWide};
  request_.hardware = {"nvidia_v100_pcie_16gb", "amd_epyc_9654_96c"};
  const auto made = points();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_TRUE(made[0].fits);
  EXPECT_EQ(made[0].hardware, "amd_epyc_9654_96c");
  EXPECT_FALSE(made[1].fits);
  EXPECT_LT(made[1].prediction->estimate.latency.value, made[0].prediction->estimate.latency.value);
  EXPECT_EQ(comparison_table(made).rows[1][13], "false");
}
TEST_F(CompareModels, ModelsAreRankedSeparately) {
  request_.models = {kWide, "zoo:mlp"};
  request_.hardware = {"nvidia_a10_pcie_24gb", "nvidia_h100_sxm5_80gb"};
  const auto made = points();
  ASSERT_EQ(made.size(), 4U);
  EXPECT_EQ(made[0].model, kWide);
  EXPECT_EQ(made[1].model, kWide);
  EXPECT_EQ(made[2].model, "zoo:mlp");
  const auto json = comparison_json(made, request_);
  EXPECT_EQ(json["points"].items()[2]["rank"].as_i64(), 1);
  EXPECT_EQ(comparison_table(made).rows[2][0], "1");
  const auto paper = comparison_paper(made, request_);
  ASSERT_EQ(paper.sections.size(), 2U);
  EXPECT_EQ(paper.sections[1].title, "zoo:mlp");
}
TEST_F(CompareModels, APointWithoutAPredictionIsLastAndSaysWhy) {
  request_.hardware = {"nosuch", "nvidia_a10_pcie_24gb"};
  const auto made = points();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_TRUE(made[0].prediction);
  EXPECT_FALSE(made[1].prediction);
  EXPECT_THAT(made[1].error, HasSubstr("nosuch"));
  const auto json = comparison_json(made, request_);
  EXPECT_EQ(json["points"].items()[0]["rank"].as_i64(), 1);
  EXPECT_FALSE(json["points"].items()[1].contains("rank"));
}
TEST_F(CompareModels, TheSameRequestUnderTwoNamesIsOnePoint) {
  request_.hardware = {"h100", "nvidia_h100_sxm5_80gb"};
  request_.dtypes = {"fp16", "FP16", "float16", "half"};
  EXPECT_EQ(points().size(), 1U);
  request_.dtypes = {"fp16", "fp32"};
  EXPECT_EQ(points().size(), 2U);
}
TEST_F(CompareModels, DevicesShareTheBatch) {
  request_.hardware = {"nvidia_h100_sxm5_80gb"};
  request_.batches = {64};
  request_.device_counts = {1, 4};
  for (const auto& point : points()) {
    EXPECT_EQ(point.batch, 64);
    EXPECT_EQ(point.prediction->batch, 64 / point.devices);
    EXPECT_NEAR(point.rates->items_per_s.value, 64e9 / point.prediction->estimate.latency.value, 1);
  }
}
TEST_F(CompareModels, RefusesMoreDevicesThanItems) {
  request_.hardware = {"nvidia_h100_sxm5_80gb"};
  request_.batches = {2};
  request_.device_counts = {3};
  EXPECT_THAT(refusal(), HasSubstr("a batch of 2 cannot be split across 3 devices"));
  request_.device_counts = {2};
  EXPECT_EQ(refusal(), "accepted");
}
TEST_F(CompareModels, RefusesWhereNoPointHasAPrediction) {
  request_.hardware = {"nosuch"};
  EXPECT_THAT(refusal(), HasSubstr("no prediction succeeded"));
  request_.hardware = {"nvidia_h100_sxm5_80gb"};
  request_.models = {"zoo:nosuch"};
  EXPECT_THAT(refusal(), HasSubstr("the zoo has no model 'nosuch'"));
}
TEST_F(CompareModels, RefusesTooManyCombinations) {
  request_.hardware = {"nvidia_h100_sxm5_80gb"};
  for (std::int64_t i = 1; i <= 101; ++i) request_.batches.push_back(i);
  for (int i = 1; i <= 100; ++i) request_.power_caps.push_back(100 + i);
  EXPECT_THAT(refusal(), HasSubstr("10100 combinations requested; the maximum is 10000"));
}

ComparedPoint point(double value, double lower, double upper) {
  ComparedPoint out;
  out.model = "net";
  out.prediction.emplace();
  out.prediction->estimate.latency = {value, "ns", estimation::Level::theoretical, "", lower, upper};
  out.rates.emplace();
  out.rates->items_per_s = {1e9 / value, "1/s", estimation::Level::theoretical, "", 1e9 / upper, 1e9 / lower};
  return out;
}
std::string text_of(const std::vector<ComparedPoint>& points, Rank rank = Rank::latency) {
  CompareModelsRequest request;
  request.rank = rank;
  return report::paper_text(comparison_paper(points, request));
}

TEST(CompareModelsRanking, IsUncertainWhereIntervalsOverlap) {
  const std::string text = text_of({point(10, 8, 14), point(13, 12, 20), point(15, 13.9, 21)});
  EXPECT_THAT(text, HasSubstr("The ranking is uncertain: the interval of the top entry overlaps with 2 other(s)."));
  EXPECT_THAT(text_of({point(10, 8, 14), point(13, 12, 20)}, Rank::throughput), HasSubstr("overlaps with 1 other(s)"));
}
TEST(CompareModelsRanking, IsCertainWhereTheIntervalsAreApart) {
  EXPECT_THAT(text_of({point(10, 8, 12), point(13, 12.5, 20)}), Not(HasSubstr("uncertain")));
  EXPECT_THAT(text_of({point(10, 8, 12), point(13, 12, 20)}), Not(HasSubstr("uncertain"))) << "touching is not overlapping";
  EXPECT_THAT(text_of({point(10, 8, 12)}), Not(HasSubstr("uncertain")));
}
TEST(CompareModelsRanking, UnpredictedAndUnrankedPointsDecideNothing) {
  ComparedPoint failed;
  failed.error = "no device";
  const std::string text = text_of({point(10, 8, 14), failed});
  EXPECT_THAT(text, Not(HasSubstr("uncertain")));
  EXPECT_THAT(text, HasSubstr("no device"));
  EXPECT_THAT(text_of({point(10, 8, 14), point(13, 12, 20)}, Rank::energy), Not(HasSubstr("uncertain")))
      << "no energy is predicted";
}

}  // namespace
}  // namespace aaco::workflows
