#pragma once

#include <optional>
#include <string>

#include "report/model.h"

namespace aaco::workflows {

// What a recorded program did with the machine: "1.84 CPUs busy, GPU busy 62.0 %; limited by waiting for a CPU". `why` is the
// statement with its evidence; its id is a class of data/rules/bottleneck.yaml or "idle". It has no confidence: the thresholds
// are our own judgement.
struct RecordVerdict {
  std::string sentence;
  report::Statement why;
};

// From the metrics and series of a session of kind record. Empty without CPU use. Pure.
std::optional<RecordVerdict> record_verdict(const report::ReportModel& model);

}  // namespace aaco::workflows
