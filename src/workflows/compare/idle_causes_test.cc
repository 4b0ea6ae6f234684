#include "workflows/idle_causes.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

using Series = std::map<std::string, std::vector<double>>;

ComparedSide side(Series idle, std::size_t windows) {
  auto work = std::make_shared<TraceWork>();
  work->time.window_count = static_cast<double>(windows);
  work->time.idle_by_window = std::move(idle);
  ComparedSide out;
  out.sessions.emplace_back();
  out.sessions.back().work = work;
  return out;
}

std::vector<IdleCauseChange> changes(const ComparedSide& a, const ComparedSide& b) {
  static const auto book = *analytics::gaps::CauseBook::load(AACO_SOURCE_DIR "/data/gaps/causes.yaml");
  return compare_idle_causes(a, b, book);
}

analytics::regression::MetricResult whole(double delta_ratio) {
  analytics::regression::MetricResult out;
  out.delta_ratio = delta_ratio;
  out.threshold_ratio = 0.05;
  return out;
}

const ComparedSide& slow() {
  static const auto out = side({{"data-loading", {40e6, 44e6, 47e6, 41e6}}, {"short gaps", {3e6, 3e6, 4e6, 3e6}}}, 4);
  return out;
}
const ComparedSide& fast() {
  static const auto out = side({{"data-loading", {1e6, 1.4e6, 2e6, 1.1e6}}, {"short gaps", {9e6, 3e6, 4e6, 5e6}}}, 4);
  return out;
}

TEST(IdleCauses, TheLargestDifferenceFirst) {
  const auto found = changes(slow(), fast());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, "data-loading");
  EXPECT_EQ(found[0].title, "loading and preparing data");
  EXPECT_TRUE(found[0].activity);
  EXPECT_NEAR(found[0].baseline_ns, 43e6, 1);
  EXPECT_TRUE(found[0].is_decided(0.95));
  EXPECT_FALSE(found[1].activity);
  EXPECT_FALSE(found[1].is_decided(0.95));
}
TEST(IdleCauses, KnownToOneSideOnly) {
  const auto found = changes(side({}, 3), side({{"gc", {5e6, 6e6, 5e6}}}, 3));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].baseline_ns, 0);
  EXPECT_TRUE(found[0].is_decided(0.95));
}
TEST(IdleCauses, FewStepsDecideNothing) {
  const auto found = changes(side({{"gc", {5e6, 6e6}}}, 2), side({{"gc", {50e6, 60e6}}}, 2));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].p_holm);
  EXPECT_FALSE(found[0].is_decided(0.95));
}
TEST(IdleCauses, NeedsTracesOnBothSides) {
  ComparedSide run;
  run.sessions.emplace_back();
  EXPECT_TRUE(changes(slow(), run).empty());
  EXPECT_TRUE(changes(run, slow()).empty());
}

TEST(DecidedActivity, NamedWhereTheWholeIsInconclusive) {
  const auto cause = decided_activity(changes(slow(), fast()), 150e6, whole(-0.17), 0.95);
  ASSERT_TRUE(cause);
  EXPECT_NE(cause->cause.find("loading and preparing data"), std::string::npos);
  EXPECT_EQ(cause->details["causes"].items()[0]["cause"].text(), "data-loading");
  EXPECT_NE(decided_activity(changes(fast(), slow()), 150e6, whole(0.2), 0.95)->recommendation.find("workers"),
            std::string::npos);
}
TEST(ExplainingActivity, IsNamedWhereStepsAreTooFewForATest) {
  const auto one_step = changes(side({{"short gaps", {9e6}}}, 1), side({{"gc", {300e6}}, {"short gaps", {12e6}}}, 1));
  const auto cause = explaining_activity(one_step, 390e6, 380e6, whole(0.97));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->details["causes"].items()[0]["cause"].text(), "gc");
  EXPECT_NE(cause->cause.find("78.9 %"), std::string::npos) << cause->cause;
  EXPECT_FALSE(explaining_activity(one_step, 390e6, 700e6, whole(0.97))) << "less than half of the difference";
  EXPECT_FALSE(explaining_activity(one_step, 390e6, -380e6, whole(-0.97))) << "B takes less time";
  EXPECT_FALSE(explaining_activity(one_step, 39e9, 380e6, whole(0.01))) << "below the threshold";
}
TEST(DecidedActivity, NotAgainstTheWholeAndNotBelowTheThreshold) {
  EXPECT_FALSE(decided_activity(changes(slow(), fast()), 150e6, whole(0.17), 0.95)) << "the step became longer";
  EXPECT_FALSE(decided_activity(changes(slow(), fast()), 2e9, whole(-0.17), 0.95)) << "2 % of a step";
  const auto gaps = changes(side({{"short gaps", {1e6, 1e6, 2e6}}}, 3), side({{"short gaps", {90e6, 91e6, 92e6}}}, 3));
  EXPECT_FALSE(decided_activity(gaps, 150e6, whole(0.6), 0.95)) << "no activity of the host";
}

}  // namespace
}  // namespace aaco::workflows
