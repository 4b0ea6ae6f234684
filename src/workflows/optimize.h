#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "stats/compare.h"
#include "workflows/ab_request.h"
#include "workflows/optimize_request.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// The proof of the winner: an interleaved comparison with the baseline on runs that the search did not use.
struct OptimizeProof {
  std::string configuration;  // "threads=2 spinning=off"
  std::string metric;         // latency.p50_ns, throughput.items_per_second
  std::string verdict;        // of the metric: improvement, equivalent, regression, inconclusive
  std::optional<double> baseline, candidate, change_ratio;
  std::optional<stats::Interval> interval;
  std::optional<double> smallest_detectable_ratio;  // the smallest true gain that is decided, the threshold included
  std::int64_t rounds = 0;
  std::optional<double> p99_ns;  // of the winner
  std::string baseline_session, candidate_session;
};

// A change of the winner and how much longer an item takes without it.
struct OptimizePart {
  std::string change;  // "threads=2"
  double without_ratio = 0;
};

// The fastest configuration that changes precision and is within the tolerance, but was compared on generated inputs only.
struct OptimizeOffer {
  std::string configuration;
  double change_ratio = 0;  // in the search; not proven
  std::string reason;
  std::optional<analytics::agreement::Agreement> agreement;
};

struct OptimizeOutcome {
  bool proven = false;
  std::string summary;  // one sentence
  std::string recommendation;
  std::optional<OptimizeProof> proof;
  std::optional<OptimizeOffer> offered;
  std::vector<OptimizePart> parts;  // of a proven winner with several changes
  core::Json trials = core::Json::array();
  core::Json space = core::Json::array();  // axes with their values, also those that do not apply, with the reason
  std::size_t configurations = 0, tried = 0, failed = 0, out_of_tolerance = 0, out_of_slo = 0, resumed = 0, untried = 0;
  core::Json baseline;             // median_ns, start_ns, load_ns, rss_peak_bytes, batch, provider
  std::vector<std::string> files;  // written to the folder
  std::string inputs;              // what outputs were compared on, and what that says about accuracy
  bool interrupted = false;
  std::int64_t wall_ns = 0;
  std::optional<SessionOutcome> session;
};

// The space as it would be searched, and nothing measured.
core::Result<core::Json> describe_space(const OptimizeRequest& request, const Services& services);

// Searches the space for a configuration that is faster than the request's own, and proves the gain (docs/formats/optimize.md).
// Fails with invalid_argument for a budget that is too short for a trial and its proof, conflict where the folder has another
// search, unsupported for an objective that cannot be measured here.
core::Result<OptimizeOutcome> optimize(const OptimizeRequest& request, const Services& services);

// Proves the result in request.folder again, on this machine or another: baseline.yaml against best.yaml. Nothing is searched.
core::Result<OptimizeOutcome> replay(const OptimizeRequest& request, const Services& services);

core::Json to_json(const OptimizeProof& proof);
core::Json to_json(const OptimizeOutcome& outcome, const OptimizeRequest& request);

// An item of a session's advice: what it predicted, and what was proved.
struct AdviceTrial {
  std::string id, title;
  std::vector<std::string> axes;                                         // that try it; empty: none does
  std::optional<double> predicted_ratio, predicted_low, predicted_high;  // saving of the call time
  std::string outcome;                                                   // proven, no proven gain, not tried
  std::string reason;  // why it was not tried, or is another change than advised
  std::optional<OptimizeProof> proof;
  std::optional<bool> within_prediction;  // the proved interval meets the predicted one; of another change than advised: empty
  std::string folder;                     // with best.yaml, of a proven one
};
struct AdviceOutcome {
  std::string session;
  std::vector<AdviceTrial> items;
  bool proven = false;  // at least one
};

// Searches the settings that the session's advice is about, item by item, in FOLDER/ID, with the session's own configuration as
// the baseline. Fails with not_found for a session without advice that settings can try.
core::Result<AdviceOutcome> try_advice(const OptimizeRequest& request, const std::string& session, const Services& services);
core::Json to_json(const AdviceOutcome& outcome);

}  // namespace aaco::workflows
