#include "workflows/optimize/trial.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace aaco::workflows {
namespace {

using core::Json;

analytics::agreement::Agreement agreement_from_json(const Json& document) {
  analytics::agreement::Agreement out;
  out.inputs = document["inputs"].as_i64().value_or(0);
  out.elements = document["elements"].as_i64().value_or(0);
  out.max_error = document["max_error"].as_f64().value_or(0);
  out.mean_error = document["mean_error"].as_f64().value_or(0);
  out.max_error_ratio = document["max_error_ratio"].as_f64().value_or(0);
  out.cosine = document["cosine"].as_f64().value_or(0);
  out.top1_ratio = document["top1_ratio"].as_f64();
  out.not_finite = document["not_finite"].as_i64().value_or(0);
  out.mismatch = document["mismatch"].text();
  return out;
}

}  // namespace

void mark_pareto(std::vector<Trial>& trials) {
  const auto measures = [](const Trial& trial) {
    return std::array{trial.median_ns, -trial.items_per_second(), static_cast<double>(trial.rss_peak_bytes),
                      trial.agreement ? trial.agreement->max_error_ratio : HUGE_VAL};
  };
  const auto beats = [&](const Trial& a, const Trial& b) {
    const auto x = measures(a), y = measures(b);
    bool better = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] > y[i]) return false;
      better = better || x[i] < y[i];
    }
    return better;
  };
  const auto counts = [](const Trial& trial) { return trial.usable() && trial.median_ns > 0; };
  for (Trial& one : trials)
    one.pareto = counts(one) && std::none_of(trials.begin(), trials.end(),
                                             [&](const Trial& other) { return counts(other) && beats(other, one); });
}

Json to_json(const analytics::agreement::Agreement& agreement) {
  return Json::object({{"inputs", agreement.inputs},
                       {"elements", agreement.elements},
                       {"max_error", agreement.max_error},
                       {"mean_error", agreement.mean_error},
                       {"max_error_ratio", agreement.max_error_ratio},
                       {"cosine", agreement.cosine},
                       {"not_finite", agreement.not_finite}})
      .set_if("top1_ratio", agreement.top1_ratio)
      .set_if("mismatch", agreement.mismatch.empty() ? Json() : Json(agreement.mismatch));
}

Json to_json(const Trial& trial) {
  Json configuration = Json::array(), values = Json::object(), effects = Json::array();
  for (const std::size_t value : trial.configuration) configuration.push(value);
  for (const auto& [axis, value] : trial.values) values.set(axis, value);
  for (const double effect : trial.log_effects) effects.push(effect);
  Json out = Json::object({{"configuration", std::move(configuration)},
                           {"values", std::move(values)},
                           {"outcome", trial.outcome},
                           {"log_effects", std::move(effects)},
                           {"pairs", trial.pairs},
                           {"wall_ns", trial.wall_ns}});
  if (!trial.reason.empty()) out.set("reason", trial.reason);
  if (!trial.log_effects.empty()) out.set("log_effect", analytics::configsearch::typical_effect({0, trial.log_effects}));
  if (trial.pareto) out.set("pareto", true);
  if (trial.median_ns > 0)
    out.set("median_ns", trial.median_ns)
        .set("p99_ns", trial.p99_ns)
        .set("baseline_median_ns", trial.baseline_median_ns)
        .set("items_per_second", trial.items_per_second())
        .set("batch", trial.batch)
        .set("load_ns", trial.load_ns)
        .set("rss_peak_bytes", trial.rss_peak_bytes);
  out.set_if("nodes_by_provider", trial.nodes_by_provider);
  if (trial.agreement) out.set("agreement", to_json(*trial.agreement));
  return out;
}

core::Result<Trial> trial_from_json(const Json& document) {
  Trial trial;
  for (const Json& value : document["configuration"].items())
    trial.configuration.push_back(static_cast<std::size_t>(value.as_u64().value_or(0)));
  if (trial.configuration.empty())
    return core::fail(core::ErrorCode::invalid_input, "a trial in the journal has no configuration");
  for (const auto& [axis, value] : document["values"].members()) trial.values[axis] = std::string(value.text());
  trial.outcome = document["outcome"].text();
  trial.reason = document["reason"].text();
  for (const Json& effect : document["log_effects"].items()) trial.log_effects.push_back(effect.as_f64().value_or(0));
  trial.pairs = document["pairs"].as_i64().value_or(0);
  trial.median_ns = document["median_ns"].as_f64().value_or(0);
  trial.p99_ns = document["p99_ns"].as_f64().value_or(0);
  trial.baseline_median_ns = document["baseline_median_ns"].as_f64().value_or(0);
  trial.batch = document["batch"].as_i64().value_or(1);
  trial.load_ns = document["load_ns"].as_i64().value_or(0);
  trial.rss_peak_bytes = document["rss_peak_bytes"].as_i64().value_or(0);
  trial.wall_ns = document["wall_ns"].as_i64().value_or(0);
  trial.nodes_by_provider = document["nodes_by_provider"];
  if (!document["agreement"].is_null()) trial.agreement = agreement_from_json(document["agreement"]);
  return trial;
}

}  // namespace aaco::workflows
