#include <cmath>

#include "workflows/optimize/fresh_rounds.h"
#include "workflows/optimize/proof.h"
#include "workflows/optimize/trial_process.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kMaxMemoryRounds = 12;  // peaks of equal processes differ by little
constexpr std::int64_t kCalls = 20;           // after the warm-up: the arena has its size
constexpr std::int64_t kPatienceNs = 900'000'000'000;

core::Result<double> peak_of(const OptimizeRequest& request, const RunRequest& configuration, std::int64_t warmup,
                             const Services& services) {
  AACO_ASSIGN(TrialProcess process, TrialProcess::start(request.worker, configuration, warmup, services, kPatienceNs));
  AACO_TRY(process.run(kCalls, kPatienceNs));
  return static_cast<double>(process.rss_peak_bytes());
}

}  // namespace

core::Result<OptimizeProof> prove_memory(const OptimizeRequest& request, const RunRequest& candidate, const std::string& name,
                                         core::Nanoseconds time, std::int64_t warmup, const Services& services) {
  FreshRounds rounds(name, "memory.rss_peak_bytes", time, kMaxMemoryRounds);
  while (rounds.more() && !services.stopping()) {
    AACO_ASSIGN(const double a, peak_of(request, request.base, warmup, services));
    AACO_ASSIGN(const double b, peak_of(request, candidate, warmup, services));
    if (a <= 0 || b <= 0) return core::fail(core::ErrorCode::unsupported, "the peak memory of a process cannot be read");
    rounds.add({{std::log(b / a)}}, {a}, {b});
  }
  return rounds.proof(request.threshold_ratio);
}

}  // namespace aaco::workflows
