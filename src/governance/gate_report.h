#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "stats/detectable.h"
#include "stats/summary.h"

namespace aaco::governance {

// Gate results in the formats of CI tools.
struct GateRow {
  std::string metric, unit;
  bool lower_is_better = true;
  bool decides = false;
  double budget_ratio = 0;
  std::string verdict;  // regression, improvement, equivalent, inconclusive
  std::optional<double> baseline, candidate, delta_ratio;
  std::optional<stats::Interval> interval;  // of delta_ratio
  std::optional<stats::Detectable> detectable;
  std::string explanation;
};

struct GateReport {
  std::string name;     // of the baseline
  std::string verdict;  // also not-comparable
  std::string severity = "none";
  double confidence = 0;
  std::string recommendation, suspected_cause;
  std::vector<std::string> differences, notes;
  std::vector<std::string> baseline_sessions, candidate_sessions;
  std::vector<GateRow> rows;
};

// A comment for a pull request.
std::string gate_markdown(const GateReport& report);
// One test case per metric: a regression is a failure, an undecided deciding metric an error; other undecided ones are skipped.
std::string gate_junit(const GateReport& report);
// Bencher Metric Format: the baseline's name -> metric -> value with bounds.
core::Json gate_bencher(const GateReport& report);
// A list for github-action-benchmark: customSmallerIsBetter has the lower-is-better metrics, customBiggerIsBetter the
// others.
core::Json gate_github_benchmark(const GateReport& report, bool lower_is_better);

}  // namespace aaco::governance
