#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "workflows/diff.h"
#include "workflows/diff_json.h"
#include "workflows/session_draft.h"

// Sessions that no honest run makes, and those that no statistics can be made of: each has its clear answer, and nothing of
// theirs is written over.
namespace aaco::workflows {
namespace {

using core::Json;

class HostileSessions : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir(), "hostile");
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
    services_.paths.share = AACO_SOURCE_DIR;  // data/ lies there
    services_.paths.sessions = core::join_path(folder_->path(), "sessions");
    services_.tool_version = "test";
  }

  // A run whose iterations took these times, of which the first `disturbed` are marked as disturbed; its path.
  std::string session(const std::vector<std::int64_t>& durations, trace::Metrics metrics = {}, std::size_t disturbed = 0) {
    auto draft = SessionDraft::begin("run", "", Json::object({}), services_);
    EXPECT_TRUE(draft.has_value());
    EXPECT_TRUE(draft->write_lockbox({{"model", "one"}}, Json::object({})).has_value());
    trace::IterationRow row;
    row.phase = draft->sink().name("measure");
    row.start_ns = 1'000'000;
    for (const std::int64_t duration : durations) {
      row.duration_ns = duration;
      row.disturbance = static_cast<std::size_t>(row.iteration) < disturbed ? draft->sink().name("steal") : trace::NameId{};
      draft->sink().add(row);
      ++row.iteration;
      row.start_ns += 2'000'000;
    }
    const auto done = draft->finish(std::move(metrics), false);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return done->path;
  }

  core::Result<DiffOutcome> compared(const std::string& a, const std::string& b, std::vector<std::string> metrics = {},
                                     bool drop_disturbed = false) {
    DiffRequest request;
    request.drop_disturbed = drop_disturbed;
    request.baseline = {a};
    request.candidate = {b};
    request.metrics.names = std::move(metrics);
    return diff(request, services_);
  }

  static bool judged(const std::string& path) { return std::filesystem::exists(core::join_path(path, "regress")); }

  std::optional<core::TemporaryDirectory> folder_;
  Services services_;
};

// No number of the document is infinite or NaN, which JSON could not carry.
void expect_finite(const DiffOutcome& outcome) {
  const std::string text = to_json(outcome, {}).dump();
  EXPECT_TRUE(Json::parse(text).has_value());
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf,"), std::string::npos);
}

TEST_F(HostileSessions, DisturbedIterationsAreLeftOutOnRequest) {
  std::vector<std::int64_t> quiet, noisy;
  for (std::int64_t i = 0; i < 400; ++i) {
    const std::int64_t own = 500'000 + 97 * (i * 7919 % 31);
    quiet.push_back(own);
    noisy.push_back(i < 250 ? own + 400'000 : own);  // most of it waits for the CPU
  }
  const std::string a = session(quiet), b = session(noisy, {}, 250);
  const auto with = compared(a, b), without = compared(a, b, {}, true);
  ASSERT_TRUE(with.has_value() && without.has_value());
  EXPECT_GT(with->latency_delta_pct.value_or(0), 50);
  EXPECT_NEAR(without->latency_delta_pct.value_or(100), 0, 1);
  EXPECT_NE(with->notes.back().find("B: 250 of 400 iterations were affected by external load and are included"),
            std::string::npos);
  EXPECT_NE(without->notes.back().find("B: 250 of 400 iterations were affected by external load and are excluded"),
            std::string::npos);
}

TEST_F(HostileSessions, NothingIsLeftOutWhereTooLittleWouldRemain) {
  const std::vector<std::int64_t> equal(60, 500'000);
  const auto outcome = compared(session(equal), session(equal, {}, 41), {}, true);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_NE(outcome->notes.back().find("B: 41 of 60 iterations were affected by external load and are included"),
            std::string::npos);
}

TEST_F(HostileSessions, ConstantSeriesThatAreEqual) {
  const auto outcome = compared(session(std::vector<std::int64_t>(40, 500'000)), session(std::vector<std::int64_t>(40, 500'000)));
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_NE(outcome->verdict, "regression");
  EXPECT_NE(outcome->verdict, "improvement");
  EXPECT_EQ(outcome->metrics.front().delta_ratio, 0);
  expect_finite(*outcome);
}

TEST_F(HostileSessions, ConstantSeriesThatDiffer) {
  const auto outcome =
      compared(session(std::vector<std::int64_t>(40, 500'000)), session(std::vector<std::int64_t>(40, 2'000'000)));
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->verdict, "regression");  // beyond what equal runs may differ by
  EXPECT_DOUBLE_EQ(*outcome->metrics.front().delta_ratio, 3);
  expect_finite(*outcome);
}

TEST_F(HostileSessions, OneIterationDecidesNothing) {
  const auto outcome = compared(session(std::vector<std::int64_t>(40, 500'000)), session({900'000}));
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->verdict, "inconclusive");
  EXPECT_NE(outcome->recommendation.find("at least 6 iterations"), std::string::npos);
  EXPECT_FALSE(outcome->cause.has_value());
  expect_finite(*outcome);
}

TEST_F(HostileSessions, NoIterationAtAll) {
  const auto outcome = compared(session({}), session({}));
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->verdict, "inconclusive");
  EXPECT_EQ(outcome->metrics.front().method, analytics::regression::Method::none);
}

TEST_F(HostileSessions, ZeroTimeHasNoRatio) {
  const auto outcome = compared(session(std::vector<std::int64_t>(40, 0)), session(std::vector<std::int64_t>(40, 500'000)));
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->verdict, "inconclusive");
  expect_finite(*outcome);
}

TEST_F(HostileSessions, NegativeTimeIsRefusedAndNothingIsWritten) {
  std::vector<std::int64_t> times(40, 500'000);
  times[7] = -3;
  const std::string good = session(std::vector<std::int64_t>(40, 500'000)), bad = session(times);
  for (const auto& [a, b] : {std::pair(good, bad), std::pair(bad, good)}) {
    const auto outcome = compared(a, b);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_NE(outcome.error().message.find("negative duration"), std::string::npos);
    EXPECT_FALSE(judged(a));
    EXPECT_FALSE(judged(b));
  }
}

TEST_F(HostileSessions, NonNumericMetricCountsAsNotMeasured) {
  const trace::Metrics metrics = {{"memory.rss_peak_bytes", std::nan(""), "bytes", {}, {}}};
  const std::string a = session(std::vector<std::int64_t>(40, 500'000), metrics);
  const std::string b = session(std::vector<std::int64_t>(40, 500'000), metrics);
  const auto outcome = compared(a, b, {"memory.rss_peak_bytes"});
  if (!outcome) return;  // refused by name is as good
  EXPECT_EQ(outcome->verdict, "inconclusive");
  expect_finite(*outcome);
}

TEST_F(HostileSessions, AnEarlierVerdictIsReplacedWhole) {
  const std::string a = session(std::vector<std::int64_t>(40, 500'000)), b = session(std::vector<std::int64_t>(40, 2'000'000));
  ASSERT_TRUE(compared(a, b).has_value());
  const std::string file = core::join_path(b, "regress/verdict.json");
  const auto before = core::read_json_file(file);
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ((*before)["verdict"].text(), "regression");
  std::filesystem::remove(core::join_path(a, "metrics/inference_iters.parquet"));
  EXPECT_FALSE(compared(a, b).has_value());  // and what was told before stays as it was
  EXPECT_EQ(core::read_json_file(file)->dump(), before->dump());
}

}  // namespace
}  // namespace aaco::workflows
