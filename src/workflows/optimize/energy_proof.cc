#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/clock.h"
#include "stats/compare.h"
#include "stats/paired.h"
#include "stats/robust.h"
#include "workflows/optimize/energy.h"
#include "workflows/optimize/proof.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kMaxEnergyRounds = 30;
constexpr int kEnergyPairs = 4;  // of blocks in a round
constexpr std::int64_t kEnergyPatienceNs = 900'000'000'000;
constexpr double kEnergyLevel = 0.95, kEnergyPower = 0.8;

struct Sides {
  std::vector<std::vector<double>> baseline, candidate;  // blocks: energy per item, J
};

std::int64_t calls_of_block(const TrialProcess& process) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(kEnergyBlockNs / std::max(process.warm_median_ns(), 1.0)));
}

core::Result<Sides> measure_round(const OptimizeRequest& request, const RunRequest& candidate, std::int64_t warmup,
                                  collectors::CpuEnergy& meter, const Services& services) {
  AACO_ASSIGN(TrialProcess a, TrialProcess::start(request.worker, request.base, warmup, services, kEnergyPatienceNs));
  AACO_ASSIGN(TrialProcess b, TrialProcess::start(request.worker, candidate, warmup, services, kEnergyPatienceNs));
  Sides sides;
  for (int pair = 0; pair < kEnergyPairs; ++pair)
    for (const bool b_now : pair % 2 == 0 ? std::array{false, true} : std::array{true, false}) {
      TrialProcess& process = b_now ? b : a;
      AACO_TRY(run_metered(process, calls_of_block(process), kEnergyPatienceNs, meter, b_now ? sides.candidate : sides.baseline));
    }
  return sides;
}

void append(std::vector<double>& all, const std::vector<std::vector<double>>& blocks) {
  for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
}

}  // namespace

core::Result<OptimizeProof> prove_energy(const OptimizeRequest& request, const RunRequest& candidate, const std::string& name,
                                         core::Nanoseconds time, std::int64_t warmup, const Services& services) {
  const std::int64_t begin = core::monotonic_ns();
  AACO_ASSIGN(auto meter, collectors::CpuEnergy::open({request.system_root}));
  OptimizeProof proof;
  proof.configuration = name;
  proof.metric = "energy.joules_per_item";
  proof.verdict = "inconclusive";
  std::vector<stats::PairedRound> rounds;
  std::vector<double> baseline, other;
  const auto late = [&] {
    const std::int64_t spent = core::monotonic_ns() - begin, done = static_cast<std::int64_t>(rounds.size());
    return rounds.size() >= stats::kFewestRounds && spent + spent / done > time.count();
  };
  while (rounds.size() < kMaxEnergyRounds && !late() && !services.stopping()) {
    AACO_ASSIGN(const Sides sides, measure_round(request, candidate, warmup, meter, services));
    rounds.push_back(stats::make_round(sides.baseline, sides.candidate, stats::StatisticChoice()));
    append(baseline, sides.baseline);
    append(other, sides.candidate);
  }
  proof.rounds = static_cast<std::int64_t>(rounds.size());
  const auto estimate = stats::paired_estimate(rounds);
  if (!estimate) return proof;
  proof.baseline = stats::median(baseline);
  proof.candidate = stats::median(other);
  proof.change_ratio = std::expm1(estimate->log_change);
  proof.interval = stats::paired_interval(*estimate, kEnergyLevel);
  proof.smallest_detectable_ratio = stats::paired_detectable_ratio(*estimate, kEnergyLevel, kEnergyPower);
  proof.verdict = std::string(to_string(stats::judge(*proof.interval, request.threshold_ratio, true)));
  return proof;
}

}  // namespace aaco::workflows
