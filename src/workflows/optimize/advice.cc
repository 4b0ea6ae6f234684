#include "workflows/optimize/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/yaml.h"
#include "tracelake/bundle.h"
#include "workflows/explain.h"
#include "workflows/optimize/as_advised.h"
#include "workflows/run_config.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

std::string text_of(const Json& value) { return value.is_string() ? std::string(value.text()) : value.dump(-1); }

// The measured change of an item against what was predicted, of the call time. A saving of 10 % is a change of -10 %.
void judge_item(const OptimizeRequest& request, const OptimizeOutcome& outcome, AdviceTrial& item) {
  item.outcome = outcome.proven ? "proven" : "no proven gain";
  item.proof = outcome.proof;
  if (outcome.proof && !is_as_advised(outcome.space, item.axes, outcome.proof->configuration)) {
    item.reason = fmt::format("no change of {} was chosen ({} out of tolerance{}): what was measured is another change",
                              item.axes.front(), outcome.out_of_tolerance, outcome.offered ? ", others only offered" : "");
    return;
  }
  if (!outcome.proof || !outcome.proof->interval || !item.predicted_high || request.objective != "latency") return;
  const double low = -outcome.proof->interval->high, high = -outcome.proof->interval->low;
  item.within_prediction = high >= item.predicted_low.value_or(0) && low <= *item.predicted_high;
}

core::Status try_item(const OptimizeRequest& request, core::Nanoseconds budget, const Services& services, AdviceTrial& item) {
  OptimizeRequest one = request;
  one.axes = item.axes;
  one.advice_id = item.id;
  one.budget = budget;
  one.folder = core::join_path(request.folder, item.id);
  services.progress("trying the advice '" + item.title + "'");
  auto outcome = optimize(one, services);
  if (!outcome && outcome.error().code == ErrorCode::invalid_argument) {  // no axis applies, or the budget is too short
    item.outcome = "not tried";
    item.reason = outcome.error().message;
    return {};
  }
  AACO_TRY(outcome);
  judge_item(one, *outcome, item);
  if (outcome->proven) item.folder = one.folder;
  return {};
}

}  // namespace

core::Result<std::map<std::string, std::vector<std::string>>> load_advice_axes(const std::string& path) {
  AACO_ASSIGN(const core::YamlNode root, core::YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema_version", "advice"}));
  AACO_ASSIGN(const std::int64_t version, root.require_i64("schema_version"));
  if (version != 1) return root.error(fmt::format("schema version {} is not supported, expected 1", version));
  AACO_ASSIGN(const core::YamlNode* advice, root.require("advice"));
  if (!advice->is_mapping()) return advice->error("'advice' must be a mapping of ids to axes");
  std::map<std::string, std::vector<std::string>> axes;
  for (const auto& [id, names] : advice->entries()) {
    AACO_ASSIGN(axes[id.scalar()], names.as_strings());
  }
  return axes;
}

std::vector<AdviceTrial> advice_trials(const Json& recommendations, const std::map<std::string, std::vector<std::string>>& axes) {
  std::vector<AdviceTrial> items;
  for (const Json& one : recommendations.items()) {
    AdviceTrial item;
    item.id = one["id"].text();
    item.title = one["title"].text();
    const bool known = one["gain_ratio"].as_f64().value_or(0) > 0;
    const auto& interval = one["gain_interval"].items();
    if (known) item.predicted_ratio = one["expected_gain_ratio"].as_f64();
    if (known && interval.size() == 2) {
      item.predicted_low = interval[0].as_f64();
      item.predicted_high = interval[1].as_f64();
    }
    const auto found = axes.find(item.id);
    if (found == axes.end()) {
      item.outcome = "not tried";
      item.reason = "no setting of a run tries it";
    } else {
      item.axes = found->second;
    }
    items.push_back(std::move(item));
  }
  return items;
}

core::Result<RunRequest> run_of_session(const Json& request) {
  RunRequest run;
  for (const char* key : {"model", "backend", "batch", "threads", "graph_level", "dtype", "seed"}) {
    const Json& value = request[key];
    const bool unset = value.is_null() || (std::string_view(key) == "threads" && value.as_i64() == 0);
    if (!unset) AACO_TRY(set_run_option(run, key, text_of(value)));
  }
  run.allow_fallback = request["allow_fallback"].as_bool().value_or(false);
  for (const char* group : {"dimensions", "inputs", "provider_options", "session_options"})
    for (const auto& [name, value] : request[group].members())
      AACO_TRY(set_run_option(run, std::string(group) + "." + name, text_of(value)));
  for (const auto& [name, shape] : request["shapes"].members())
    for (const Json& size : shape.items()) run.shapes[name].push_back(size.as_i64().value_or(1));
  if (run.model.empty())
    return core::fail(ErrorCode::invalid_input, "the session does not say which model it ran",
                      "--advice requires a session of 'aaco run'");
  return run;
}

core::Result<AdviceOutcome> try_advice(const OptimizeRequest& asked, const std::string& session, const Services& services) {
  const std::int64_t begin = core::monotonic_ns();
  AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, session));
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(path));
  AACO_ASSIGN(const Explanation explanation, explain(session, services));
  OptimizeRequest request = asked;
  AACO_ASSIGN(request.base, run_of_session(manifest.request));
  request.advice_session = explanation.session_id;
  AACO_ASSIGN(const auto axes, load_advice_axes(core::join_path(services.paths.share, "data/optimize/advice.yaml")));
  AdviceOutcome out;
  out.session = explanation.session_id;
  out.items = advice_trials(explanation.bottleneck["recommendations"], axes);
  auto open = std::count_if(out.items.begin(), out.items.end(), [](const AdviceTrial& item) { return !item.axes.empty(); });
  if (open == 0)
    return core::fail(ErrorCode::not_found, "session " + out.session + " has no advice that a setting of a run can try",
                      "'aaco explain " + out.session + "' shows its advice; 'aaco optimize MODEL' searches all settings");
  for (AdviceTrial& item : out.items) {
    if (item.axes.empty() || services.stopping()) continue;
    const std::int64_t left = request.budget.count() - (core::monotonic_ns() - begin);
    AACO_TRY(try_item(request, core::Nanoseconds(left / open--), services, item));
    out.proven = out.proven || item.outcome == "proven";
  }
  AACO_TRY(core::make_directories(request.folder));
  AACO_TRY(core::write_file_atomic(core::join_path(request.folder, "advice.json"), to_json(out).dump() + "\n"));
  return out;
}

Json to_json(const AdviceOutcome& outcome) {
  Json items = Json::array();
  for (const AdviceTrial& item : outcome.items) {
    Json one =
        Json::object({{"id", item.id}, {"title", item.title}, {"outcome", item.outcome}, {"axes", Json::texts(item.axes)}});
    one.set_if("predicted_gain_ratio", item.predicted_ratio);
    if (item.predicted_high) one.set("predicted_interval", Json::array({item.predicted_low.value_or(0), *item.predicted_high}));
    if (!item.reason.empty()) one.set("reason", item.reason);
    if (item.proof) one.set("proof", to_json(*item.proof));
    one.set_if("within_prediction", item.within_prediction);
    if (!item.folder.empty()) one.set("folder", item.folder);
    items.push(std::move(one));
  }
  return Json::object(
      {{"schema_version", 1}, {"session", outcome.session}, {"proven", outcome.proven}, {"items", std::move(items)}});
}

}  // namespace aaco::workflows
