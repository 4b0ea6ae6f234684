#include <algorithm>
#include <array>
#include <vector>

#include "workflows/optimize/energy.h"
#include "workflows/optimize/fresh_rounds.h"
#include "workflows/optimize/proof.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kMaxEnergyRounds = 30;
constexpr int kEnergyPairs = 4;  // of blocks in a round
constexpr std::int64_t kEnergyPatienceNs = 900'000'000'000;

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

std::vector<double> flat(const std::vector<std::vector<double>>& blocks) {
  std::vector<double> all;
  for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

}  // namespace

core::Result<OptimizeProof> prove_energy(const OptimizeRequest& request, const RunRequest& candidate, const std::string& name,
                                         core::Nanoseconds time, std::int64_t warmup, const Services& services) {
  AACO_ASSIGN(auto meter, collectors::CpuEnergy::open({request.system_root}));
  FreshRounds rounds(name, "energy.joules_per_item", time, kMaxEnergyRounds);
  while (rounds.more() && !services.stopping()) {
    AACO_ASSIGN(const Sides sides, measure_round(request, candidate, warmup, meter, services));
    rounds.add(stats::make_round(sides.baseline, sides.candidate, stats::StatisticChoice()), flat(sides.baseline),
               flat(sides.candidate));
  }
  return rounds.proof(request.threshold_ratio);
}

}  // namespace aaco::workflows
