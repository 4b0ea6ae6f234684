#pragma once

#include <map>
#include <string>
#include <vector>

#include "analytics/metric_catalogue.h"
#include "analytics/regression.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

// What a metric may lose: a policy's say over the catalogue's.
struct MetricBudget {
  double threshold_ratio = 0.05;
  analytics::regression::Better better = analytics::regression::Better::lower;
};

struct MetricChoice {
  std::vector<std::string> names;  // metric ids, p50 and the like, or beginnings such as "gpu.*"; empty: the usual ones
  double threshold_ratio = 0.05;
  std::map<std::string, MetricBudget> budgets;  // by metric id; these win
};

// The metrics of both sides, the deciding one first. Fails with invalid_argument on a name that is neither a published metric nor
// one that these sessions have.
core::Result<std::vector<analytics::regression::MetricInput>> comparison_metrics(
    const MetricChoice& choice, const ComparedSide& a, const ComparedSide& b,
    const analytics::metrics::MetricCatalogue& catalogue);

// "p50" -> "latency.p50_ns", "throughput" -> "throughput.items_per_second"; other names as they are.
std::string metric_id(const std::string& name);

// For a name that is not a published metric: "did you mean latency.p50_ns?", or the ids whose words it uses, or how to list them.
std::string metric_hint(const std::string& name, const analytics::metrics::MetricCatalogue& catalogue);

}  // namespace aaco::workflows
