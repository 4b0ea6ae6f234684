#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "laboratory/scoring.h"
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

}  // namespace aaco::workflows
