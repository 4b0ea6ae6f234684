#include "workflows/optimize/proof.h"

#include <algorithm>

#include "workflows/ab.h"
#include "workflows/run/run_again.h"

namespace aaco::workflows {
namespace {

constexpr core::Nanoseconds kMinProof{2'000'000'000};  // of each side

}  // namespace

core::Result<OptimizeProof> prove(const OptimizeRequest& request, const Space& space, const Trial& winner, core::Nanoseconds time,
                                  std::int64_t warmup, const Services& services) {
  AbRequest ab_request;
  ab_request.a.request = request.base;
  AACO_ASSIGN(ab_request.b.request, space.apply(winner.configuration, request.base));
  ab_request.a_words = configuration_words(ab_request.a.request);
  ab_request.b_words = configuration_words(ab_request.b.request);
  for (auto* words : {&ab_request.a_words, &ab_request.b_words})
    words->insert(words->end(), {"--warmup", std::to_string(warmup)});
  ab_request.worker = request.worker;
  ab_request.duration = std::max(time / 2, kMinProof);
  ab_request.threshold_ratio = request.threshold_ratio;
  ab_request.detectable_ratio = std::max(request.threshold_ratio, 0.01);
  ab_request.apart = true;
  ab_request.force = request.objective == "throughput";  // batches may differ
  ab_request.store = request.store;
  ab_request.tag = request.tag;
  AACO_ASSIGN(const AbOutcome outcome, ab(ab_request, services));
  OptimizeProof proof;
  proof.configuration = space.name(winner.configuration);
  proof.metric = request.objective == "throughput" ? "throughput.items_per_second" : "latency.p50_ns";
  proof.rounds = static_cast<std::int64_t>(outcome.rounds.size());
  proof.verdict = "inconclusive";
  for (const auto& metric : outcome.verdict.metrics) {
    if (metric.id != proof.metric) continue;
    proof.verdict = std::string(to_string(metric.verdict));
    proof.baseline = metric.baseline;
    proof.candidate = metric.candidate;
    proof.change_ratio = metric.delta_ratio;
    proof.interval = metric.interval;
    proof.smallest_detectable_ratio = metric.smallest_detectable_ratio;
  }
  if (outcome.a) proof.baseline_session = outcome.a->manifest.id.text;
  if (outcome.b) {
    proof.candidate_session = outcome.b->manifest.id.text;
    for (const char* id : {"latency.p99_ns", "latency.p95_ns"})
      if (const auto* tail = find_metric(outcome.b->metrics, id); tail != nullptr && !proof.p99_ns) proof.p99_ns = tail->value;
  }
  return proof;
}

}  // namespace aaco::workflows
