#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/bottleneck.h"
#include "core/json.h"
#include "core/result.h"

// How well a classifier does on what it has not seen: whole groups (models, intensities, generators) are held out, never rows.
namespace aaco::laboratory::scoring {

struct Example {
  std::string name;  // of the session, for messages
  std::string truth;
  std::vector<float> values;                  // by Examples::features
  std::map<std::string, std::string> groups;  // "model" -> "mlp", "intensity" -> "0.5", "generator" -> "spin"
  std::optional<double> effect_ratio;         // of its fault on the mean call; nothing is learnt from it
  bool unprofiled = false;                    // the twin of another example, as it would look without a profiled pass
};
struct Examples {
  std::vector<std::string> features;
  std::vector<Example> rows;
};

struct Prediction {
  std::string name, truth, group;
  std::vector<analytics::bottleneck::ClassScore> ranking;
  std::map<std::string, double> rules;  // log-odds of each class by the rules; empty where a class has none
  bool unprofiled = false;              // of such an example
};

struct Interval {
  double low = 0, high = 1;
};

struct Score {
  std::int64_t not_held = 0;                         // examples of a class that only the held group has
  std::int64_t count = 0, first = 0, first_two = 0;  // right class first; among the first two
  double calibration_error = 0;                      // expected calibration error of the first class, ten bins of equal width
  std::map<std::string, std::map<std::string, std::int64_t>> confusion;  // truth -> answer -> count
  [[nodiscard]] double accuracy() const { return count > 0 ? static_cast<double>(first) / static_cast<double>(count) : 0; }
  // 95 % of the accuracy by Wilson's method, as if examples were independent; those of one model are not quite.
  [[nodiscard]] Interval interval() const;
  [[nodiscard]] double within_two() const { return count > 0 ? static_cast<double>(first_two) / static_cast<double>(count) : 0; }
};

Score score_of(const std::vector<Prediction>& predictions);

// What makes of trees' scores probabilities that are true (analytics/bottleneck.h, LearnedModel).
struct Calibration {
  double temperature = 1, rule_weight = 0;
};

// Trees over the examples. invalid_argument with fewer than two classes; unsupported where the program was built without the
// library that fits.
core::Result<analytics::bottleneck::LearnedModel> fit(const Examples& examples, const Calibration& calibration = {});

// Each group of `key` in turn is held out, and predicted by trees that were fitted to the rest, uncalibrated. An example without
// that group is never held out, nor is one whose class the rest does not have at all: nobody could have learnt it. `not_held`
// counts those. With `needs`, classes are ruled out as they are in use.
core::Result<std::vector<Prediction>> hold_out(const Examples& examples, const std::string& key, std::int64_t* not_held = nullptr,
                                               const analytics::bottleneck::RuleBook* needs = nullptr);

// Under which uncalibrated predictions have the least negative log-likelihood.
Calibration calibrate(const std::vector<Prediction>& predictions);

// Uncalibrated predictions as they are in use: those of each group calibrated by all other groups, so that no probability is
// stated by what it was fitted to.
std::vector<Prediction> cross_calibrated(std::vector<Prediction> predictions);

core::Json to_json(const Score& score);
// A table in Markdown, truths as rows.
std::string confusion_table(const Score& score);

}  // namespace aaco::laboratory::scoring
