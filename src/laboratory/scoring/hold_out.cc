#include <algorithm>
#include <set>

#include "laboratory/scoring.h"

namespace aaco::laboratory::scoring {
namespace {

using analytics::bottleneck::LearnedModel;

stats::TreeSettings settings_for(std::size_t classes) {
  stats::TreeSettings settings;
  settings.loss = stats::TreeLoss::softmax;
  settings.classes = static_cast<int>(classes);
  settings.rounds = 80;
  settings.depth = 4;
  settings.learning_rate = 0.15;
  settings.row_ratio = 0.8;
  settings.column_ratio = 0.5;
  settings.least_weight = 1;
  settings.bins = 64;
  return settings;
}

Prediction predict(const LearnedModel& model, const analytics::bottleneck::Features& features,
                   const analytics::bottleneck::RuleBook* needs) {
  Prediction out;
  out.ranking = score(model, features);
  if (needs != nullptr) rule_out(*needs, features, out.ranking);
  const auto rules = rule_scores_of(model.classes, features);
  for (std::size_t i = 0; i < rules.size(); ++i) out.rules[model.classes[i]] = rules[i];
  return out;
}

}  // namespace

core::Result<LearnedModel> fit(const Examples& examples, const Calibration& calibration) {
  std::set<std::string> classes;
  for (const Example& row : examples.rows) classes.insert(row.truth);
  if (classes.size() < 2)
    return core::fail(core::ErrorCode::invalid_argument, "training needs examples of at least two classes",
                      "create more with 'aaco lab inject'");
  LearnedModel model;
  model.classes.assign(classes.begin(), classes.end());
  model.features = examples.features;
  model.temperature = calibration.temperature;
  model.rule_weight = calibration.rule_weight;
  // Classes count alike, however many examples each has.
  std::map<std::string, double> counts;
  for (const Example& row : examples.rows) ++counts[row.truth];
  stats::FeatureTable table;
  table.columns = examples.features.size();
  std::vector<float> targets, weights;
  for (const Example& row : examples.rows) {
    table.values.insert(table.values.end(), row.values.begin(), row.values.end());
    targets.push_back(static_cast<float>(std::distance(classes.begin(), classes.find(row.truth))));
    const double share = static_cast<double>(examples.rows.size()) / (static_cast<double>(classes.size()) * counts[row.truth]);
    weights.push_back(static_cast<float>(std::clamp(share, 0.3, 3.0)));
  }
  AACO_ASSIGN(model.trees, stats::fit_trees(table, targets, settings_for(classes.size()), weights));
  return model;
}

core::Result<std::vector<Prediction>> hold_out(const Examples& examples, const std::string& key, std::int64_t* not_held,
                                               const analytics::bottleneck::RuleBook* needs) {
  std::set<std::string> groups;
  const auto group_of = [&](const Example& row) {
    const auto found = row.groups.find(key);
    return found == row.groups.end() ? std::string() : found->second;
  };
  for (const Example& row : examples.rows) groups.insert(group_of(row));
  groups.erase("");
  std::vector<Prediction> predictions;
  for (const std::string& group : groups) {
    Examples rest{examples.features, {}};
    for (const Example& row : examples.rows)
      if (group_of(row) != group) rest.rows.push_back(row);
    AACO_ASSIGN(const LearnedModel model, fit(rest));
    const auto known = [&](const Example& row) {
      return std::find(model.classes.begin(), model.classes.end(), row.truth) != model.classes.end();
    };
    for (const Example& row : examples.rows)
      if (group_of(row) == group && !known(row)) {
        if (not_held != nullptr) ++*not_held;
      } else if (group_of(row) == group) {
        predictions.push_back(predict(model, {examples.features, row.values}, needs));
        auto& made = predictions.back();
        made.name = row.name, made.truth = row.truth, made.group = group, made.unprofiled = row.unprofiled;
      }
  }
  return predictions;
}

}  // namespace aaco::laboratory::scoring
