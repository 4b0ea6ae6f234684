#include "workflows/optimize/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "workflows/optimize/as_advised.h"

namespace aaco::workflows {
namespace {

using core::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json parsed(const char* text) { return *Json::parse(text); }

TEST(Advice, IsTriedOnTheAxesOfItsId) {
  const auto items = advice_trials(
      parsed(R"([{"id": "launch_bound", "title": "t", "gain_ratio": 0.3, "expected_gain_ratio": 0.2, "gain_interval": [0, 0.3]},
                                             {"id": "storage", "title": "u"},
                                             {"id": "memory_bound", "gain_ratio": 0, "expected_gain_ratio": 0, "gain_interval": [0, 0]}])"),
      {{"launch_bound", {"batch", "graph"}}});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_THAT(items[0].axes, ElementsAre("batch", "graph"));
  EXPECT_EQ(items[0].predicted_high, 0.3);
  EXPECT_TRUE(items[1].axes.empty());
  EXPECT_EQ(items[1].outcome, "not tried");
  EXPECT_FALSE(items[1].predicted_ratio);
  EXPECT_FALSE(items[2].predicted_ratio);  // unknown, not none
  EXPECT_FALSE(items[2].predicted_high);
}
TEST(Advice, NoRecommendationsAreNoItems) { EXPECT_TRUE(advice_trials(Json(), {}).empty()); }

TEST(RunOfSession, HasWhatTheRequestSays) {
  const auto run =
      run_of_session(parsed(R"({"model": "mlp", "backend": "cpu", "batch": 2, "threads": 0, "graph_level": "basic", "seed": 3,
    "dtype": null, "shapes": {"x": [2, 8]}, "session_options": {"memory_arena": "off"}, "warmup": 5})"));
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->model, "mlp");
  EXPECT_EQ(run->batch, 2);
  EXPECT_FALSE(run->threads);
  EXPECT_EQ(run->graph_level, "basic");
  EXPECT_EQ(run->shapes.at("x"), (std::vector<std::int64_t>{2, 8}));
  EXPECT_EQ(run->session_options.at("memory_arena"), "off");
}
TEST(RunOfSession, WithoutAModelIsRefused) { EXPECT_THAT(run_of_session(Json()).error().text(), HasSubstr("which model")); }
TEST(RunOfSession, AnInvalidOptionIsRefused) { EXPECT_FALSE(run_of_session(parsed(R"({"model": "m", "graph_level": "best"})"))); }

TEST(AdviceAxes, ShippedFileIsReadAndABrokenOneRefused) {
  const auto folder = *core::TemporaryDirectory::make(testing::TempDir());
  const std::string path = core::join_path(folder.path(), "advice.yaml");
  ASSERT_TRUE(core::write_file_atomic(path, "schema_version: 1\nadvice: {launch_bound: [batch]}\n"));
  EXPECT_THAT(load_advice_axes(path)->at("launch_bound"), ElementsAre("batch"));
  ASSERT_TRUE(core::write_file_atomic(path, "schema_version: 2\nadvice: {}\n"));
  EXPECT_THAT(load_advice_axes(path).error().text(), HasSubstr("schema version 2"));
  ASSERT_TRUE(core::write_file_atomic(path, "schema_version: 1\nadvice: [launch_bound]\n"));
  EXPECT_THAT(load_advice_axes(path).error().text(), HasSubstr("mapping"));
}

TEST(Advice, AnotherChangeIsNotTheAdvisedOne) {
  const Json space =
      parsed(R"([{"axis": "precision", "values": ["baseline", "int8_static"]}, {"axis": "threads", "values": ["baseline", "2"]},
                                {"axis": "batch", "values": ["baseline"]}])");
  EXPECT_TRUE(is_as_advised(space, {"precision", "threads"}, "precision=int8_static threads=2"));
  EXPECT_FALSE(is_as_advised(space, {"precision", "threads"}, "threads=2"));
  EXPECT_TRUE(is_as_advised(space, {"batch", "threads"}, "threads=2"));
  EXPECT_TRUE(is_as_advised(parsed("[]"), {"precision", "threads"}, "threads=2")) << "this search had no fewer bits";
}

}  // namespace
}  // namespace aaco::workflows
