#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "hardware/fingerprint.h"
#include "stats/compare.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct DiffRequest {
  std::vector<std::string> baseline;   // sessions of side A
  std::vector<std::string> candidate;  // sessions of side B
  double threshold_ratio = 0.05;
  double level = 0.95;
  std::vector<std::string>
      metrics;         // latency statistics to judge: p50, p90, p95, p99, mean; the first decides. Empty: p50, p90, mean
  bool force = false;  // compare even what is not comparable
};

// One metric's comparison, or why there is none.
struct MetricComparison {
  std::string metric;  // "latency.p50_ns"
  std::optional<stats::Comparison> comparison;
  std::string reason;
};

struct DiffOutcome {
  std::vector<hardware::Difference> differences;  // of the fingerprints, hard first
  bool comparable = true;
  std::vector<MetricComparison> metrics;  // the first decides
  std::string verdict;                    // regression, improvement, equivalent, inconclusive, not-comparable
  std::vector<std::string> baseline_ids, candidate_ids;
};

// Compares two sides, each one session or several of the same thing. What differs between them (fingerprint) is found first;
// where that forbids a comparison the verdict is not-comparable and no number is compared, unless forced. With several metrics
// the level of each is corrected (Bonferroni), so that `level` holds for all together.
core::Result<DiffOutcome> diff(const DiffRequest& request, const Services& services);

// The verdict document: verdict, regression, severity, confidence, latency_delta_pct, evidence, statistics
// (docs/formats/verdict.md).
core::Json to_json(const DiffOutcome& outcome, const DiffRequest& request);

}  // namespace aaco::workflows
