#include "workflows/lab_score.h"

#include <algorithm>
#include <array>

#include "core/files.h"
#include "workflows/insight.h"

namespace aaco::workflows {
namespace {

namespace scoring = laboratory::scoring;
using core::Json;

constexpr std::array<std::string_view, 3> kHeld = {"model", "intensity", "generator"};

// Scores with each kind of group held out. The temperature comes from models held out, and is applied to all.
core::Result<std::map<std::string, scoring::Score>> score_all(const scoring::Examples& examples, const Judges& judges,
                                                              double& temperature, const Services& services) {
  std::map<std::string, scoring::Score> scores;
  services.progress("calibrating");
  AACO_ASSIGN(const auto uncalibrated, scoring::hold_out(examples, "model", 1, nullptr, &judges.book));
  temperature = scoring::calibrate(uncalibrated);
  for (const std::string_view key : kHeld) {
    services.progress("holding out by " + std::string(key));
    std::int64_t not_held = 0;
    AACO_ASSIGN(const auto predictions, scoring::hold_out(examples, std::string(key), temperature, &not_held, &judges.book));
    scoring::Score score = scoring::score_of(predictions);
    score.not_held = not_held;
    scores[std::string(key)] = std::move(score);
  }
  return scores;
}

Json scores_json(const std::map<std::string, scoring::Score>& scores) {
  Json out = Json::object();
  for (const auto& [held, score] : scores) out.set("held_out_by_" + held, to_json(score));
  return out;
}

Json counts_json(const scoring::Examples& examples) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : examples.rows) ++counts[row.truth];
  Json out = Json::object();
  for (const auto& [truth, count] : counts) out.set(truth, count);
  return out;
}

double share_below(const std::vector<double>& values, double limit) {
  const auto below = std::count_if(values.begin(), values.end(), [&](double one) { return one <= limit; });
  return values.empty() ? 0 : static_cast<double>(below) / static_cast<double>(values.size());
}

core::Status write_model(const std::string& folder, const std::string& file, const scoring::Examples& examples,
                         double temperature, const std::map<std::string, scoring::Score>& scores) {
  AACO_ASSIGN(auto model, scoring::fit(examples, temperature));
  model.record = Json::object({{"examples", examples.rows.size()},
                               {"classes", counts_json(examples)},
                               {"made_by", "aaco lab inject on this machine's CPU, aaco lab train"},
                               {"scores", scores_json(scores)}});
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
  AACO_ASSIGN(report.bottlenecks, score_all(report.examples.bottlenecks, judges, report.bottleneck_temperature, services));
  AACO_ASSIGN(report.causes, score_all(report.examples.causes, judges, report.cause_temperature, services));
  return report;
}

Json to_json(const LabReport& report) {
  const LabExamples& examples = report.examples;
  return Json::object(
      {{"schema_version", 1},
       {"sessions", examples.sessions},
       {"disturbed_otherwise", examples.disturbed_otherwise},
       {"without_effect", examples.without_effect},
       {"without_partner", examples.without_partner},
       {"bottleneck", Json::object({{"examples", counts_json(examples.bottlenecks)},
                                    {"temperature", report.bottleneck_temperature},
                                    {"scores", scores_json(report.bottlenecks)}})},
       {"cause", Json::object({{"examples", counts_json(examples.causes)},
                               {"temperature", report.cause_temperature},
                               {"by_configuration", examples.by_configuration},
                               {"by_configuration_right", examples.by_configuration_right},
                               {"scores", scores_json(report.causes)}})},
       {"decomposition", Json::object({{"pairs", examples.unexplained.size()},
                                       {"unexplained_at_most_15_percent_ratio", share_below(examples.unexplained, 0.15)}})},
       {"simulated_traces", to_json(report.traces)}});
}

core::Result<LabReport> lab_train(const std::string& folder, const Services& services) {
  AACO_ASSIGN(LabReport report, lab_score(services));
  if (report.examples.sessions == 0)
    return core::fail(core::ErrorCode::not_found, "the lake has no runs whose truth is known, and nothing is learnt from traces",
                      "make some: 'aaco lab inject FAULT -- run ...', and undisturbed runs with --tag class=CLASS");
  AACO_TRY(core::make_directories(folder));
  AACO_TRY(
      write_model(folder, "classifier.json", report.examples.bottlenecks, report.bottleneck_temperature, report.bottlenecks));
  AACO_TRY(write_model(folder, "causes.json", report.examples.causes, report.cause_temperature, report.causes));
  return report;
}

}  // namespace aaco::workflows
