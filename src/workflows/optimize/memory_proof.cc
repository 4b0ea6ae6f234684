#include <cmath>
#include <vector>

#include "core/clock.h"
#include "stats/compare.h"
#include "stats/paired.h"
#include "stats/robust.h"
#include "workflows/optimize/proof.h"
#include "workflows/optimize/trial_process.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kMaxMemoryRounds = 12;  // peaks of equal processes differ by little
constexpr std::int64_t kCalls = 20;           // after the warm-up: the arena has its size
constexpr std::int64_t kPatienceNs = 900'000'000'000;
constexpr double kLevel = 0.95, kPower = 0.8;

core::Result<double> peak_of(const OptimizeRequest& request, const RunRequest& configuration, std::int64_t warmup,
                             const Services& services) {
  AACO_ASSIGN(TrialProcess process, TrialProcess::start(request.worker, configuration, warmup, services, kPatienceNs));
  AACO_TRY(process.run(kCalls, kPatienceNs));
  return static_cast<double>(process.rss_peak_bytes());
}

}  // namespace

core::Result<OptimizeProof> prove_memory(const OptimizeRequest& request, const RunRequest& candidate, const std::string& name,
                                         core::Nanoseconds time, std::int64_t warmup, const Services& services) {
  const std::int64_t begin = core::monotonic_ns();
  OptimizeProof proof;
  proof.configuration = name;
  proof.metric = "memory.rss_peak_bytes";
  proof.verdict = "inconclusive";
  std::vector<stats::PairedRound> rounds;
  std::vector<double> a_peaks, b_peaks;
  const auto late = [&] {
    const std::int64_t spent = core::monotonic_ns() - begin, done = static_cast<std::int64_t>(rounds.size());
    return rounds.size() >= stats::kFewestRounds && spent + spent / done > time.count();
  };
  while (rounds.size() < kMaxMemoryRounds && !late() && !services.stopping()) {
    AACO_ASSIGN(const double a, peak_of(request, request.base, warmup, services));
    AACO_ASSIGN(const double b, peak_of(request, candidate, warmup, services));
    if (a <= 0 || b <= 0) return core::fail(core::ErrorCode::unsupported, "the peak memory of a process cannot be read");
    a_peaks.push_back(a);
    b_peaks.push_back(b);
    rounds.push_back({{std::log(b / a)}});
  }
  proof.rounds = static_cast<std::int64_t>(rounds.size());
  const auto estimate = stats::paired_estimate(rounds);
  if (!estimate) return proof;
  proof.baseline = stats::median(a_peaks);
  proof.candidate = stats::median(b_peaks);
  proof.change_ratio = std::expm1(estimate->log_change);
  proof.interval = stats::paired_interval(*estimate, kLevel);
  proof.smallest_detectable_ratio = stats::paired_detectable_ratio(*estimate, kLevel, kPower);
  proof.verdict = std::string(to_string(stats::judge(*proof.interval, request.threshold_ratio, true)));
  return proof;
}

}  // namespace aaco::workflows
