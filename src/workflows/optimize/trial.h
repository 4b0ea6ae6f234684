#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analytics/agreement.h"
#include "analytics/config_search.h"
#include "core/json.h"

namespace aaco::workflows {

// What became of one configuration.
struct Trial {
  analytics::configsearch::Configuration configuration;
  std::map<std::string, std::string> values;  // axis -> value, where it differs from the baseline
  // ok, failed (did not load or run), timed_out, tolerance (outputs differ), slo (P99 too high), offered (a change of precision
  // within the tolerance, compared on generated inputs only)
  std::string outcome = "ok";
  std::string reason;               // why it is out
  std::vector<double> log_effects;  // per round: median over its block pairs of log(time per item / baseline's)
  std::int64_t pairs = 0;
  double median_ns = 0, p99_ns = 0;  // of a call
  double baseline_median_ns = 0;
  std::int64_t batch = 1;
  std::int64_t load_ns = 0, rss_peak_bytes = 0, wall_ns = 0;
  core::Json nodes_by_provider;
  std::optional<analytics::agreement::Agreement> agreement;
  bool pareto = false;  // see mark_pareto()

  [[nodiscard]] bool usable() const { return outcome == "ok"; }
  [[nodiscard]] double items_per_second() const { return median_ns > 0 ? static_cast<double>(batch) * 1e9 / median_ns : 0; }
};

// Marks the usable trials that no other usable one beats: at least as good in latency, throughput, memory and output error, and
// better in one of them. An error that was not measured counts as the largest.
void mark_pareto(std::vector<Trial>& trials);

core::Json to_json(const Trial& trial);
core::Json to_json(const analytics::agreement::Agreement& agreement);
core::Result<Trial> trial_from_json(const core::Json& document);

}  // namespace aaco::workflows
