#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "laboratory/corpus.h"
#include "laboratory/scoring.h"
#include "workflows/services.h"

namespace aaco::workflows {

// How 'aaco diff' does on the faults that 'aaco lab simulate' put on traces of the lake. Nothing is learnt for traces, so that
// nothing has to be held out.
struct LabTraceScore {
  laboratory::scoring::Score causes;  // of the pairs whose verdict is a regression
  std::int64_t pairs = 0;
  std::int64_t without_effect = 0;  // whose verdict is equivalent: the trace hides the fault
  std::int64_t undecided = 0;       // inconclusive or not comparable
  std::int64_t without_original = 0;
  std::int64_t wrong_direction = 0;                                     // called an improvement
  std::vector<double> unexplained;                                      // of each regression: share of the difference
  std::map<std::string, std::map<std::string, std::int64_t>> verdicts;  // fault -> verdict -> count
  // What is said of the simulated trace by itself: its headline, where the fault takes most of the span or makes the file
  // something else, and the cause of gaps that are its doing. Groups "cause" tell faults apart.
  laboratory::corpus::Score alone;
  std::vector<laboratory::corpus::Judgement> cases;  // behind `alone`
};
// Lays every simulated trace beside the one it was made of; `pairs` false: judges them alone. Nothing is stored.
core::Result<LabTraceScore> score_simulated_traces(const Services& services, bool pairs = true);
// With every case by name, for calibration.
core::Json cases_json(const LabTraceScore& score);
core::Json to_json(const LabTraceScore& score);

}  // namespace aaco::workflows
