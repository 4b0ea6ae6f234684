#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/bottleneck.h"
#include "core/json.h"
#include "core/result.h"

// Classifier performance on unseen data: whole groups (models, intensities, generators) are held out, never single rows.
namespace aaco::laboratory::scoring {

struct Example {
  std::string name;  // of the session, for messages
  std::string truth;
  std::vector<float> values;                  // by Examples::features
  std::map<std::string, std::string> groups;  // "model" -> "mlp", "intensity" -> "0.5", "generator" -> "spin"
  std::optional<double> effect_ratio;         // effect of its fault on the mean call; not used for training
  bool unprofiled = false;                    // a copy of another example without its profiled pass
};
struct Examples {
  std::vector<std::string> features;
  std::vector<Example> rows;
};

struct Prediction {
  std::string name, truth, group;
  std::vector<analytics::bottleneck::ClassScore> ranking;
  std::map<std::string, double> rules;  // log-odds of each class by the rules; empty where a class has none
  bool unprofiled = false;              // of an unprofiled example
};

struct Interval {
  double low = 0, high = 1;
};

struct Score {
  std::int64_t not_held = 0;                         // examples of a class that only the held-out group has
  std::int64_t count = 0, first = 0, first_two = 0;  // correct class ranked first; ranked in the first two
  double calibration_error = 0;                      // expected calibration error of the first class, ten bins of equal width
  std::map<std::string, std::map<std::string, std::int64_t>> confusion;  // truth -> answer -> count
  [[nodiscard]] double accuracy() const { return count > 0 ? static_cast<double>(first) / static_cast<double>(count) : 0; }
  // 95 % of the accuracy by Wilson's method, as if examples were independent; those of one model are not quite.
  [[nodiscard]] Interval interval() const;
  [[nodiscard]] double within_two() const { return count > 0 ? static_cast<double>(first_two) / static_cast<double>(count) : 0; }
};

Score score_of(const std::vector<Prediction>& predictions);

// Calibration of tree scores to probabilities (analytics/bottleneck.h, LearnedModel).
struct Calibration {
  double temperature = 1, rule_weight = 0;
};

// Fits trees to the examples. invalid_argument with fewer than two classes; unsupported if built without the
// fitting library.
core::Result<analytics::bottleneck::LearnedModel> fit(const Examples& examples, const Calibration& calibration = {});

// Holds out each group of `key` and predicts it with trees fitted to the others, uncalibrated. An example without
// that group is never held out, nor is one whose class no other group has: it could not be learned. `not_held`
// counts those. With `needs`, classes are ruled out as in production.
core::Result<std::vector<Prediction>> hold_out(const Examples& examples, const std::string& key, std::int64_t* not_held = nullptr,
                                               const analytics::bottleneck::RuleBook* needs = nullptr);

// The calibration that minimises the negative log-likelihood of the uncalibrated predictions.
Calibration calibrate(const std::vector<Prediction>& predictions);

// Calibrates the predictions of each group with all other groups, so that no probability is
// evaluated on its own training data.
std::vector<Prediction> cross_calibrated(std::vector<Prediction> predictions);

core::Json to_json(const Score& score);
// A Markdown table with the true classes as rows.
std::string confusion_table(const Score& score);

}  // namespace aaco::laboratory::scoring
