#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "laboratory/scoring.h"
#include "workflows/lab_trace_score.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Sessions of the lake whose truth is known: those that 'aaco lab inject' made, and undisturbed ones tagged class=CLASS, whose
// class follows from how their model was built. What stands after a semicolon in the tag tells settings apart: only runs of equal
// tags are laid beside each other.
struct LabExamples {
  laboratory::scoring::Examples bottlenecks;  // truth: a class of data/rules/bottleneck.yaml
  laboratory::scoring::Examples causes;       // pairs of an undisturbed and a disturbed session; truth: a fault's cause
  std::int64_t sessions = 0;
  std::int64_t disturbed_otherwise = 0;  // other processes took CPU time that the truth does not tell of
  std::int64_t without_effect = 0;       // disturbed ones whose calls took less than the least effect longer
  std::int64_t weak = 0;                 // disturbed ones that are a cause, but not what limits the session
  std::int64_t without_partner = 0;      // disturbed ones of which no undisturbed run of the same model is there
  // Pairs whose cause is a setting, which needs no learned model.
  std::vector<laboratory::scoring::Prediction> by_configuration;
  std::vector<double> unexplained;  // of each pair: share of the difference
  std::map<std::string, std::vector<double>> unexplained_by_cause;
};
core::Result<LabExamples> lab_examples(const Services& services);

// One of the two judges: what limits a session, and why two differ.
struct LabJudgement {
  // By what was held out: model, intensity, generator; and the same of their twins without a profiled pass, "model_unprofiled".
  std::map<std::string, std::vector<laboratory::scoring::Prediction>> predictions;
  std::map<std::string, laboratory::scoring::Score> scores;
  laboratory::scoring::Calibration calibration;      // of a model fitted to everything
  std::optional<laboratory::scoring::Score> in_use;  // of the model that came with the program; nothing is held out from it
  std::optional<laboratory::scoring::Score> in_use_unprofiled;
  std::vector<laboratory::scoring::Prediction> in_use_predictions;
};
struct LabReport {
  LabExamples examples;
  LabJudgement bottlenecks, causes;
  LabTraceScore traces;
};
// Scores both with whole groups held out, and the causes of simulated traces. A lake may have runs, traces or both.
core::Result<LabReport> lab_score(const Services& services);
core::Json to_json(const LabReport& report);
// One JSON object a line for each example: judge, session, truth, groups, features, and the predictions when its groups were held
// out.
std::string examples_text(const LabReport& report);

// Scores, fits to all examples and writes classifier.json and causes.json into `folder`, each with the record of its training.
core::Result<LabReport> lab_train(const std::string& folder, const Services& services);

}  // namespace aaco::workflows
