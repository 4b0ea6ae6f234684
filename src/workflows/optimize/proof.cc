#include "workflows/optimize/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/files.h"
#include "core/numbers.h"
#include "workflows/ab.h"
#include "workflows/run/run_again.h"

namespace aaco::workflows {
namespace {

constexpr double kBeyondThreshold = 0.01;              // that a change is to be found at
constexpr core::Nanoseconds kMinProof{1'000'000'000};  // of each side

std::string gain_sentence(const OptimizeProof& proof, const OptimizeRequest& request) {
  const std::string_view what = request.objective == "throughput" ? "throughput"
                                : request.objective == "memory"   ? "peak memory"
                                : request.objective == "energy"   ? "energy per item"
                                                                  : "median latency";
  if (!proof.change_ratio) return fmt::format("{}: too few runs to compare the {}", proof.configuration, what);
  const std::string change =
      fmt::format("{}: {} {}", proof.configuration, what, core::format_signed_percent(*proof.change_ratio));
  if (!proof.interval) return change;
  return fmt::format("{} ({} to {})", change, core::format_signed_percent(proof.interval->low),
                     core::format_signed_percent(proof.interval->high));
}

}  // namespace

void conclude(const OptimizeRequest& request, OptimizeOutcome& outcome) {
  const auto& proof = outcome.proof;
  const bool slow = proof && request.slo_p99 && proof->p99_ns && *proof->p99_ns > static_cast<double>(request.slo_p99->count());
  outcome.proven = proof && proof->verdict == "improvement" && !slow;
  if (outcome.interrupted) {
    outcome.summary = "stopped early; trials are kept";
    outcome.recommendation = "run the same command again to resume";
  } else if (outcome.proven) {
    outcome.summary = gain_sentence(*proof, request);
    outcome.recommendation = "use best.yaml: aaco run --config " + core::join_path(request.folder, "best.yaml");
  } else if (proof) {
    outcome.summary = "no proven gain; best candidate " + gain_sentence(*proof, request);
    if (slow) outcome.summary += ", P99 latency " + core::format_duration(*proof->p99_ns) + " exceeds the SLO";
    outcome.recommendation = "keep what you have";
  } else {
    const bool some_out = outcome.failed + outcome.out_of_tolerance + outcome.out_of_slo > 0;
    const bool all_out = outcome.tried > 0 && outcome.tried == outcome.failed + outcome.out_of_tolerance + outcome.out_of_slo;
    const char* const gain = request.objective == "memory"   ? "needed less memory than the baseline"
                             : request.objective == "energy" ? "needed less energy than the baseline"
                                                             : "was faster than the baseline";
    outcome.summary = all_out ? "none of the configurations tried can be used"
                              : fmt::format("none of the configurations {} {}", some_out ? "that can be used" : "tried", gain);
    if (some_out)
      outcome.summary += fmt::format(": {} failed, {} out of tolerance, {} out of the SLO", outcome.failed,
                                     outcome.out_of_tolerance, outcome.out_of_slo);
    outcome.recommendation = "keep what you have";
  }
}

core::Result<OptimizeProof> prove(const OptimizeRequest& request, const RunRequest& candidate, const std::string& name,
                                  core::Nanoseconds time, std::int64_t warmup, const Services& services) {
  if (request.objective == "memory") return prove_memory(request, candidate, name, time, warmup, services);
  if (request.objective == "energy") return prove_energy(request, candidate, name, time, warmup, services);
  AbRequest ab_request;
  ab_request.a.request = request.base;
  ab_request.b.request = candidate;
  ab_request.a_words = configuration_words(ab_request.a.request);
  ab_request.b_words = configuration_words(ab_request.b.request);
  for (auto* words : {&ab_request.a_words, &ab_request.b_words})
    words->insert(words->end(), {"--warmup", std::to_string(warmup)});
  ab_request.worker = request.worker;
  ab_request.duration = std::max(time / 2, kMinProof);
  ab_request.threshold_ratio = request.threshold_ratio;
  ab_request.detectable_ratio = request.threshold_ratio + std::max(request.threshold_ratio, kBeyondThreshold);
  ab_request.apart = true;
  ab_request.force = request.objective == "throughput";  // batches may differ
  ab_request.store = request.store;
  ab_request.tag = request.tag;
  AACO_ASSIGN(const AbOutcome outcome, ab(ab_request, services));
  OptimizeProof proof;
  proof.configuration = name;
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
    if (metric.detectable)
      proof.smallest_detectable_ratio =
          request.objective == "throughput" ? metric.detectable->increase_ratio : metric.detectable->decrease_ratio;
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
