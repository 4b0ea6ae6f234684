#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/gap_causes.h"
#include "analytics/metric_catalogue.h"
#include "core/json.h"
#include "stats/summary.h"
#include "workflows/diff_cause.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

// Idle time of one cause (data/gaps, or what the times of a gap say), per step and device of both sides.
struct IdleCauseChange {
  std::string id, title;
  bool activity = false;  // of the host: something that could be taken away
  std::string remedy;
  double baseline_ns = 0, candidate_ns = 0;
  std::optional<stats::Interval> ci95;  // of the difference; empty: too few steps
  std::optional<double> p_holm;         // of Welch's test over the steps, corrected for the number of causes
  [[nodiscard]] double delta_ns() const { return candidate_ns - baseline_ns; }
  [[nodiscard]] bool is_decided(double level) const { return p_holm && *p_holm <= 1 - level; }
};

// The largest difference first; empty unless every session of both sides is a trace with gaps.
std::vector<IdleCauseChange> compare_idle_causes(const ComparedSide& a, const ComparedSide& b,
                                                 const analytics::gaps::CauseBook& book);
core::Json to_json(const std::vector<IdleCauseChange>& changes);

// A metric for the idle time of each cause (analytics::gaps::idle_metric), for comparisons that name one.
core::Status define_idle_metrics(const analytics::gaps::CauseBook& book, analytics::metrics::MetricCatalogue& catalogue);

// Where the whole is inconclusive: the activity of the host whose idle time changed beyond doubt, by more than the threshold of a
// step and in the direction of the whole.
std::optional<SuspectedCause> decided_activity(const std::vector<IdleCauseChange>& changes, double step_ns,
                                               const analytics::regression::MetricResult& whole, double level);

// The same where there are too few steps for a test: the activity that explains at least half of `span_delta_ns`, what a step
// (the trace) of B takes longer than one of A (`step_ns`). It is a fact of these two traces, and says nothing of others.
std::optional<SuspectedCause> explaining_activity(const std::vector<IdleCauseChange>& changes, double step_ns,
                                                  double span_delta_ns, const analytics::regression::MetricResult& whole);

}  // namespace aaco::workflows
