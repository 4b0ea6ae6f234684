#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "laboratory/scoring.h"
#include "workflows/lab_examples.h"
#include "workflows/lab_trace_score.h"
#include "workflows/services.h"

namespace aaco::workflows {

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
