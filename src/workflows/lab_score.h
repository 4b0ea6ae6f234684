#pragma once

#include <map>
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
  std::int64_t without_effect = 0;       // disturbed ones whose latency changed by less than the least effect
  std::int64_t without_partner = 0;      // disturbed ones of which no undisturbed run of the same model is there
  std::int64_t by_configuration = 0, by_configuration_right = 0;  // pairs whose cause is a setting, which needs no learned model
  std::vector<double> unexplained;                                // of each pair: share of the difference
  std::map<std::string, std::vector<double>> unexplained_by_cause;
};
core::Result<LabExamples> lab_examples(const Services& services);

struct LabReport {
  LabExamples examples;
  std::map<std::string, laboratory::scoring::Score> bottlenecks, causes;  // by what was held out: model, intensity, generator
  double bottleneck_temperature = 1, cause_temperature = 1;
  LabTraceScore traces;
};
// Scores both with whole groups held out, and the causes of simulated traces. A lake may have runs, traces or both.
core::Result<LabReport> lab_score(const Services& services);
core::Json to_json(const LabReport& report);

// Scores, fits to all examples and writes classifier.json and causes.json into `folder`, each with the record of its training.
core::Result<LabReport> lab_train(const std::string& folder, const Services& services);

}  // namespace aaco::workflows
