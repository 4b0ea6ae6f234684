#include "workflows/lab_score.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/files.h"
#include "workflows/explain/insight.h"

namespace aaco::workflows {
namespace {

namespace scoring = laboratory::scoring;
using core::Json;

constexpr std::array<std::string_view, 3> kHeld = {"model", "intensity", "generator"};
constexpr std::string_view kUnprofiled = "_unprofiled";

// Those of twins without a profiled pass taken out: they are scored by themselves.
std::vector<scoring::Prediction> take_unprofiled(std::vector<scoring::Prediction>& predictions) {
  const auto first =
      std::stable_partition(predictions.begin(), predictions.end(), [](const auto& one) { return !one.unprofiled; });
  std::vector<scoring::Prediction> taken(std::make_move_iterator(first), std::make_move_iterator(predictions.end()));
  predictions.erase(first, predictions.end());
  return taken;
}

// Predictions by the model in use, of what it may or may not have seen.
void judge_in_use(const scoring::Examples& examples, const std::optional<analytics::bottleneck::LearnedModel>& model,
                  const Judges& judges, LabJudgement& out) {
  if (!model || examples.rows.empty()) return;
  for (const auto& row : examples.rows) {
    auto ranking = score(*model, {examples.features, row.values});
    rule_out(judges.book, {examples.features, row.values}, ranking);
    out.in_use_predictions.push_back({row.name, row.truth, "", std::move(ranking), {}, row.unprofiled});
  }
  const auto unprofiled = take_unprofiled(out.in_use_predictions);
  out.in_use = scoring::score_of(out.in_use_predictions);
  if (!unprofiled.empty()) out.in_use_unprofiled = scoring::score_of(unprofiled);
}

// Scores with each kind of group held out. The temperature of what is held out comes from the other groups, that of a model
// fitted to everything from all models held out.
core::Result<LabJudgement> judge(const scoring::Examples& examples,
                                 const std::optional<analytics::bottleneck::LearnedModel>& in_use, const Judges& judges,
                                 const Services& services) {
  LabJudgement out;
  judge_in_use(examples, in_use, judges, out);
  for (const std::string_view key : kHeld) {
    services.progress("cross-validating by " + std::string(key));
    std::int64_t not_held = 0;
    AACO_ASSIGN(auto raw, scoring::hold_out(examples, std::string(key), &not_held, &judges.book));
    if (key == kHeld.front()) out.calibration = scoring::calibrate(raw);
    auto& predictions = out.predictions[std::string(key)] = scoring::cross_calibrated(std::move(raw));
    auto unprofiled = take_unprofiled(predictions);
    auto& score = out.scores[std::string(key)] = scoring::score_of(predictions);
    score.not_held = not_held;
    if (unprofiled.empty()) continue;
    const std::string name = std::string(key) + std::string(kUnprofiled);
    out.scores[name] = scoring::score_of(unprofiled);
    out.scores[name].not_held = score.not_held = not_held / 2;  // every example has its twin
    out.predictions[name] = std::move(unprofiled);
  }
  return out;
}

Json scores_json(const std::map<std::string, scoring::Score>& scores) {
  Json out = Json::object();
  for (const auto& [held, score] : scores) out.set("held_out_by_" + held, to_json(score));
  return out;
}

Json counts_json(const scoring::Examples& examples) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : examples.rows) counts[row.truth] += row.unprofiled ? 0 : 1;
  Json out = Json::object();
  for (const auto& [truth, count] : counts) out.set(truth, count);
  return out;
}

Json misses_json(const std::vector<scoring::Prediction>& predictions) {
  Json out = Json::array();
  for (const auto& one : predictions)
    if (!one.ranking.empty() && one.ranking.front().class_id != one.truth)
      out.push(Json::object({{"session", one.name},
                             {"truth", one.truth},
                             {"answer", one.ranking.front().class_id},
                             {"confidence_ratio", one.ranking.front().probability}}));
  return out;
}

Json to_json(const scoring::Examples& examples, const LabJudgement& judgement) {
  Json out = Json::object({{"examples", counts_json(examples)},
                           {"temperature", judgement.calibration.temperature},
                           {"rule_weight", judgement.calibration.rule_weight},
                           {"scores", scores_json(judgement.scores)}});
  if (const auto held = judgement.predictions.find(std::string(kHeld.front())); held != judgement.predictions.end())
    out.set("misses", misses_json(held->second));
  if (judgement.in_use)
    out.set("in_use", to_json(*judgement.in_use)).set("in_use_misses", misses_json(judgement.in_use_predictions));
  if (judgement.in_use_unprofiled) out.set("in_use_unprofiled", to_json(*judgement.in_use_unprofiled));
  return out;
}

// The answers to one example, by what was held out.
Json answers_json(const LabJudgement& judgement, const scoring::Example& row) {
  Json out = Json::object();
  for (const auto& [key, predictions] : judgement.predictions)
    for (const auto& one : predictions)
      if (one.name == row.name && one.unprofiled == row.unprofiled) {
        Json ranking = Json::array();
        for (const auto& each : one.ranking)
          ranking.push(Json::object({{"class", each.class_id}, {"probability_ratio", each.probability}}));
        out.set(key, std::move(ranking));
      }
  return out;
}

void add_lines(std::string_view judge, const scoring::Examples& examples, const LabJudgement& judgement, std::string& text) {
  for (const auto& row : examples.rows) {
    Json groups = Json::object(), features = Json::object();
    for (const auto& [key, value] : row.groups) groups.set(key, value);
    for (std::size_t i = 0; i < examples.features.size(); ++i)
      if (!std::isnan(row.values[i])) features.set(examples.features[i], static_cast<double>(row.values[i]));
    Json line = Json::object({{"judge", judge}, {"session", row.name}, {"truth", row.truth}, {"unprofiled", row.unprofiled}});
    line.set_if("effect_ratio", row.effect_ratio).set("groups", std::move(groups)).set("features", std::move(features));
    text += line.set("held_out", answers_json(judgement, row)).dump(-1) + "\n";
  }
}

double share_below(const std::vector<double>& values, double limit) {
  const auto below = std::count_if(values.begin(), values.end(), [&](double one) { return one <= limit; });
  return values.empty() ? 0 : static_cast<double>(below) / static_cast<double>(values.size());
}

core::Status write_model(const std::string& folder, const std::string& file, const scoring::Examples& examples,
                         const LabJudgement& judgement) {
  AACO_ASSIGN(auto model, scoring::fit(examples, judgement.calibration));
  model.record = Json::object(
      {{"examples", std::count_if(examples.rows.begin(), examples.rows.end(), [](const auto& row) { return !row.unprofiled; })},
       {"classes", counts_json(examples)},
       {"made_by", "aaco lab inject on this machine's CPU, aaco lab train"},
       {"scores", scores_json(judgement.scores)}});
  return core::write_file_atomic(core::join_path(folder, file), to_json(model).dump(1) + "\n");
}

}  // namespace

core::Result<LabReport> lab_score(const Services& services) {
  LabReport report;
  AACO_ASSIGN(const Judges judges, load_judges(services.paths));
  AACO_ASSIGN(report.traces, score_simulated_traces(services));
  auto examples = lab_examples(services);
  if (!examples && examples.error().code == core::ErrorCode::not_found && report.traces.pairs > 0) return report;
  AACO_ASSIGN(report.examples, std::move(examples));
  AACO_ASSIGN(report.bottlenecks, judge(report.examples.bottlenecks, judges.bottleneck, judges, services));
  AACO_ASSIGN(report.causes, judge(report.examples.causes, judges.cause, judges, services));
  return report;
}

Json to_json(const LabReport& report) {
  const LabExamples& examples = report.examples;
  const scoring::Score configured = scoring::score_of(examples.by_configuration);
  return Json::object(
      {{"schema_version", 1},
       {"sessions", examples.sessions},
       {"disturbed_otherwise", examples.disturbed_otherwise},
       {"without_effect", examples.without_effect},
       {"weak", examples.weak},
       {"without_partner", examples.without_partner},
       {"bottleneck", to_json(examples.bottlenecks, report.bottlenecks)},
       {"cause", std::move(to_json(examples.causes, report.causes)
                               .set("by_configuration", configured.count)
                               .set("by_configuration_right", configured.first)
                               .set("by_configuration_misses", misses_json(examples.by_configuration)))},
       {"decomposition", Json::object({{"pairs", examples.unexplained.size()},
                                       {"unexplained_at_most_15_percent_ratio", share_below(examples.unexplained, 0.15)}})},
       {"simulated_traces", to_json(report.traces)}});
}

std::string examples_text(const LabReport& report) {
  std::string text;
  if (report.examples.sessions == 0) return text;
  add_lines("bottleneck", report.examples.bottlenecks, report.bottlenecks, text);
  add_lines("cause", report.examples.causes, report.causes, text);
  return text;
}

core::Result<LabReport> lab_train(const std::string& folder, const Services& services) {
  AACO_ASSIGN(LabReport report, lab_score(services));
  if (report.examples.sessions == 0)
    return core::fail(core::ErrorCode::not_found, "no labelled runs to train on (traces are not used for training)",
                      "create some with 'aaco lab inject FAULT -- run ...', plus undisturbed runs with --tag class=CLASS");
  AACO_TRY(core::make_directories(folder));
  AACO_TRY(write_model(folder, "classifier.json", report.examples.bottlenecks, report.bottlenecks));
  AACO_TRY(write_model(folder, "causes.json", report.examples.causes, report.causes));
  return report;
}

}  // namespace aaco::workflows
