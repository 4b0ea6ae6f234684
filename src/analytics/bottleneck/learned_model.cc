#include <algorithm>
#include <cmath>

#include "analytics/bottleneck.h"

namespace aaco::analytics::bottleneck {
namespace {

using core::ErrorCode;
using core::Json;

core::Result<std::vector<std::string>> texts(const Json& document, std::string_view key) {
  std::vector<std::string> out;
  for (const Json& one : document[key].items()) {
    if (!one.is_string()) return core::fail(ErrorCode::invalid_input, "the model's " + std::string(key) + " must be strings");
    out.emplace_back(one.text());
  }
  if (out.empty()) return core::fail(ErrorCode::invalid_input, "the model has no " + std::string(key));
  return out;
}

}  // namespace

core::Result<LearnedModel> model_from_json(const Json& document, const std::vector<std::string>& known) {
  if (document["schema_version"].as_i64() != 1)
    return core::fail(ErrorCode::invalid_input, "the model's schema version is not 1");
  LearnedModel model;
  AACO_ASSIGN(model.classes, texts(document, "classes"));
  AACO_ASSIGN(model.features, texts(document, "features"));
  AACO_ASSIGN(model.trees, stats::BoostedTrees::from_json(document["trees"]));
  model.temperature = document["temperature"].as_f64().value_or(0);
  model.rule_weight = document["rule_weight"].as_f64().value_or(0);
  model.record = document["record"];
  if (!(model.temperature > 0)) return core::fail(ErrorCode::invalid_input, "the model's temperature must be above 0");
  if (model.rule_weight < 0) return core::fail(ErrorCode::invalid_input, "the model's rule weight must not be negative");
  if (model.trees.scores() != model.classes.size() || model.trees.columns() != model.features.size())
    return core::fail(ErrorCode::invalid_input, "the model's classes or features do not match its trees");
  for (const std::string& feature : model.features)
    if (std::find(known.begin(), known.end(), feature) == known.end())
      return core::fail(ErrorCode::invalid_input, "the model requires the unknown signal '" + feature + "'");
  return model;
}

Json to_json(const LearnedModel& model) {
  return Json::object({{"schema_version", 1},
                       {"classes", Json::texts(model.classes)},
                       {"features", Json::texts(model.features)},
                       {"temperature", model.temperature},
                       {"rule_weight", model.rule_weight},
                       {"record", model.record},
                       {"trees", model.trees.to_json()}});
}

}  // namespace aaco::analytics::bottleneck
