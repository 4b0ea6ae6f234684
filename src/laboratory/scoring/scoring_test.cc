#include "laboratory/scoring.h"

#include <gtest/gtest.h>

#include "core/random.h"

namespace aaco::laboratory::scoring {
namespace {

Prediction said(const std::string& truth, const std::string& first, double probability, const std::string& second = "other") {
  return {"s", truth, "g", {{first, probability}, {second, 1 - probability}}, {}};
}

TEST(Scores, CountsFirstAndSecond) {
  const Score score = score_of({said("a", "a", 0.9), said("a", "b", 0.8, "a"), said("b", "c", 0.6, "d"), said("b", "b", 0.7)});
  EXPECT_EQ(score.count, 4);
  EXPECT_EQ(score.first, 2);
  EXPECT_EQ(score.first_two, 3);
  EXPECT_DOUBLE_EQ(score.accuracy(), 0.5);
  EXPECT_EQ(score.confusion.at("a").at("b"), 1);
}

TEST(Scores, NoScoreWithoutPredictions) {
  const Score score = score_of({});
  EXPECT_EQ(score.count, 0);
  EXPECT_EQ(score.accuracy(), 0);
  EXPECT_TRUE(to_json(score)["accuracy_ratio"].is_null());  // of nothing there is no share
  EXPECT_TRUE(to_json(score)["accuracy_interval_ratio"].is_null());
  EXPECT_EQ(score_of({{"s", "a", "g", {}, {}}}).count, 0);
}

TEST(Scores, CalibrationErrorIsConfidenceError) {
  std::vector<Prediction> predictions;
  for (int i = 0; i < 10; ++i) predictions.push_back(said("a", i < 7 ? "a" : "b", 0.95));
  EXPECT_NEAR(score_of(predictions).calibration_error, 0.25, 1e-9);
}

TEST(Calibration, CoolsOverconfidentModel) {
  std::vector<Prediction> predictions;
  for (int i = 0; i < 100; ++i) predictions.push_back(said("a", i < 70 ? "a" : "b", 0.99, i < 70 ? "b" : "a"));
  EXPECT_GT(calibrate(predictions).temperature, 2);
  for (auto& one : predictions) one.ranking = {{"a", 0.7}, {"b", 0.3}};
  for (std::size_t i = 70; i < 100; ++i) predictions[i].truth = "b";
  EXPECT_NEAR(calibrate(predictions).temperature, 1, 0.15);
}

TEST(Calibration, WeightsRulesThatPerformBetter) {
  std::vector<Prediction> predictions;
  for (int i = 0; i < 60; ++i) {
    Prediction one = said("a", i % 3 == 0 ? "b" : "a", 0.6, i % 3 == 0 ? "a" : "b");
    one.rules = {{"a", 4}, {"b", 0}};
    one.group = i < 30 ? "x" : "y";
    predictions.push_back(one);
  }
  EXPECT_GT(calibrate(predictions).rule_weight, 0.5);
  EXPECT_EQ(score_of(cross_calibrated(predictions)).first, 60);
  predictions.back().rules.clear();  // of a class without a rule nothing can be said
  EXPECT_EQ(calibrate(predictions).rule_weight, 0);
}

TEST(Calibration, NeverCalibratesAGroupOnItself) {
  std::vector<Prediction> predictions;
  for (int i = 0; i < 200; ++i) {
    Prediction one = said("a", i % 10 < 7 ? "a" : "b", 0.99, i % 10 < 7 ? "b" : "a");
    one.group = i < 100 ? "x" : "y";
    predictions.push_back(one);
  }
  EXPECT_NEAR(score_of(cross_calibrated(predictions)).calibration_error, 0, 0.03);
  // What is too sure in one group only stays so there: the other group never showed it.
  for (std::size_t i = 0; i < 100; ++i) predictions[i].truth = predictions[i].ranking.front().class_id;
  const auto calibrated = cross_calibrated(predictions);
  EXPECT_GT(calibrated.back().ranking.front().probability, 0.99);
  EXPECT_LT(calibrated.front().ranking.front().probability, 0.9);
  EXPECT_TRUE(cross_calibrated({}).empty());
}

TEST(Scores, IntervalCoversAccuracyAndShrinks) {
  std::vector<Prediction> predictions(20, said("a", "a", 0.9));
  predictions.push_back(said("a", "b", 0.9));
  const Interval few = score_of(predictions).interval();
  EXPECT_NEAR(few.low, 0.7733, 1e-3);  // 20 of 21, Wilson
  EXPECT_NEAR(few.high, 0.9915, 1e-3);
  EXPECT_EQ(score_of({}).interval().high, 1);
}

TEST(Tables, EveryTrueClassIsARow) {
  const std::string table = confusion_table(score_of({said("a", "a", 0.9), said("b", "a", 0.8)}));
  EXPECT_EQ(table, "| truth | a | b |\n|---|---:|---:|\n| a | 1 |  |\n| b | 1 |  |\n");
}

// Two classes that one feature tells apart; a second feature tells the models apart and nothing else.
Examples separable(std::size_t models) {
  Examples examples{{"signal", "model"}, {}};
  core::Random random(7);
  for (std::size_t model = 0; model < models; ++model)
    for (int i = 0; i < 20; ++i) {
      const bool high = i % 2 == 0;
      examples.rows.push_back({"s",
                               high ? "high" : "low",
                               {static_cast<float>((high ? 1.0 : 0.0) + 0.2 * random.uniform()), static_cast<float>(model)},
                               {{"model", std::to_string(model)}}});
    }
  return examples;
}

TEST(HoldOut, GeneralisesToUnseenModels) {
  const auto predictions = hold_out(separable(4), "model");
  if (!predictions && predictions.error().code == core::ErrorCode::unsupported) GTEST_SKIP() << "skipped, built without XGBoost";
  ASSERT_TRUE(predictions) << predictions.error().text();
  EXPECT_EQ(predictions->size(), 80U);
  EXPECT_GE(score_of(*predictions).accuracy(), 0.95);
}

TEST(HoldOut, CountsClassesUniqueToTheHeldOutGroupSeparately) {
  Examples examples = separable(3);
  for (Example& row : examples.rows)
    if (row.groups["model"] == "2") row.truth = "unheard";
  std::int64_t not_held = 0;
  const auto predictions = hold_out(examples, "model", &not_held);
  if (!predictions && predictions.error().code == core::ErrorCode::unsupported) GTEST_SKIP() << "skipped, built without XGBoost";
  ASSERT_TRUE(predictions);
  EXPECT_EQ(not_held, 20);
  EXPECT_EQ(predictions->size(), 40U);
}

TEST(HoldOut, NeverHoldsOutExamplesWithoutGroup) {
  Examples examples = separable(2);
  examples.rows[0].groups.clear();
  const auto predictions = hold_out(examples, "model");
  if (!predictions && predictions.error().code == core::ErrorCode::unsupported) GTEST_SKIP() << "skipped, built without XGBoost";
  EXPECT_EQ(predictions->size(), 39U);
}

TEST(Fit, RefusesSingleClass) {
  Examples examples = separable(1);
  for (Example& row : examples.rows) row.truth = "same";
  EXPECT_EQ(fit(examples).error().code, core::ErrorCode::invalid_argument);
  EXPECT_FALSE(fit({{"a"}, {}}));
}

}  // namespace
}  // namespace aaco::laboratory::scoring
