#include "workflows/optimize/trial_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/clock.h"
#include "core/numbers.h"
#include "stats/paired.h"
#include "stats/robust.h"
#include "stats/summary.h"
#include "workflows/optimize/energy.h"

namespace aaco::workflows {
namespace {

constexpr double kBlockNs = 30e6;     // of one side, before the other has its turn
constexpr std::int64_t kPairs = 4;    // of blocks in a round
constexpr double kHopelessRatio = 2;  // slower than that after the first pair: the round ends
// Of warm-up: what is left of it falls on both sides alike.
constexpr double kWarmupNs = 150e6;
constexpr std::int64_t kMinTrialWarmup = 5;
constexpr std::int64_t kMaxTrialWarmup = 300;  // a configuration may be many times slower than the baseline
constexpr std::int64_t kMaxLife = 12;          // trials that share a process of the baseline
// A configuration may take this many times longer than the baseline to start before it counts as hanging; at least a tenth of the
// budget, but no more than the seconds below.
constexpr std::int64_t kSlowerStart = 10;
constexpr std::int64_t kBudgetParts = 10;
constexpr std::int64_t kMaxMinStartNs = 10'000'000'000;
constexpr std::int64_t kTrialBlocksNs = 1'000'000'000;    // for its calls; they take a quarter of that undisturbed
constexpr std::int64_t kMeteredBlocksNs = 6'000'000'000;  // where blocks are as long as energy counters require
constexpr std::int64_t kLoadingTimeoutNs = 900'000'000'000;
constexpr std::int64_t kBaselineTimeoutNs = 600'000'000'000;

std::int64_t calls_within(double time_ns, double median_ns) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(time_ns / std::max(median_ns, 1.0)), 1, 50'000);
}

std::vector<double> durations(const std::vector<runner::TimedCall>& calls) {
  std::vector<double> out;
  for (const auto& call : calls) out.push_back(static_cast<double>(call.duration_ns));
  return out;
}

void put_out(Trial& trial, const core::Error& error) {
  trial.outcome = error.code == core::ErrorCode::timed_out ? "timed_out" : "failed";
  trial.reason = error.message;
}

}  // namespace

core::Result<TrialProcess> TrialBench::start(const RunRequest& asked, std::int64_t deadline_ns) {
  AACO_ASSIGN(const RunRequest configuration, variants_.resolve(asked));
  const std::int64_t left = std::max<std::int64_t>(deadline_ns - core::monotonic_ns(), 1'000'000);
  AACO_ASSIGN(TrialProcess process,
              TrialProcess::start(request_->worker, configuration, warmup_, *services_, std::min(patience_ns(), left)));
  // Other work on the machine comes and goes: what starts take lately is what the next ones take.
  if (baseline_) recent_start_ns_ = recent_start_ns_ == 0 ? process.start_ns() : (3 * recent_start_ns_ + process.start_ns()) / 4;
  return process;
}

core::Result<TrialBench> TrialBench::open(const OptimizeRequest& request, const Space& space, const std::string& model_path,
                                          const Services& services) {
  TrialBench bench(request, space, model_path, services);
  if (request.objective == "energy") {
    AACO_ASSIGN(auto meter, collectors::CpuEnergy::open({request.system_root}));
    bench.meter_ = std::make_unique<collectors::CpuEnergy>(std::move(meter));
  }
  AACO_ASSIGN(TrialProcess baseline, bench.start(request.base, INT64_MAX));
  bench.baseline_ = std::make_unique<TrialProcess>(std::move(baseline));
  bench.warmup_ = std::clamp(calls_within(kWarmupNs, bench.baseline_->warm_median_ns()), kMinTrialWarmup, kMaxTrialWarmup);
  services.progress(fmt::format("recording the baseline's outputs on {} inputs", request.check_inputs));
  const std::int64_t begin = core::monotonic_ns();
  AACO_ASSIGN(bench.outputs_, OutputCheck::record(*bench.baseline_, request, request.folder));
  bench.check_ns_ = core::monotonic_ns() - begin + bench.start_ns();
  if (request.objective == "memory") AACO_TRY(bench.measure_memory());
  return bench;
}

std::int64_t TrialBench::patience_ns() const {
  if (!baseline_) return kLoadingTimeoutNs;
  return std::max(kSlowerStart * baseline_->start_ns(), std::min(kMaxMinStartNs, request_->budget.count() / kBudgetParts));
}

std::int64_t TrialBench::start_ns() const {
  const std::int64_t first =
      baseline_->start_ns() + static_cast<std::int64_t>(static_cast<double>(warmup_) * baseline_->warm_median_ns());
  return std::max(first, recent_start_ns_);
}

// Of a process of its own: the one that runs beside trials has also written outputs.
core::Status TrialBench::measure_memory() {
  AACO_ASSIGN(TrialProcess process, start(request_->base, INT64_MAX));
  AACO_TRY(process.run(calls_within(kBlockNs, process.warm_median_ns()), kBaselineTimeoutNs));
  rss_bytes_ = process.rss_peak_bytes();
  return {};
}

core::Status TrialBench::renew_baseline() {
  AACO_ASSIGN(TrialProcess fresh, start(request_->base, INT64_MAX));
  baseline_ = std::make_unique<TrialProcess>(std::move(fresh));
  life_ = 0;
  return {};
}

core::Status TrialBench::run_pairs(Trial& trial, TrialProcess& candidate, std::int64_t deadline_ns) {
  std::vector<std::vector<double>> ours, theirs, our_energy, their_energy;
  std::vector<double> all;
  const bool metered = meter_ != nullptr;
  // As in the proof: throughput is of the mean call, stalls included.
  const stats::StatisticChoice statistic = request_->objective == "latency" || request_->objective == "memory"
                                               ? stats::StatisticChoice(0.5)
                                               : stats::StatisticChoice();
  // Energy is of an item, time of a call.
  const double batches = metered ? 0 : std::log(static_cast<double>(candidate.batch()) / static_cast<double>(baseline_->batch()));
  const auto effects_so_far = [&] {
    return metered ? stats::make_round(our_energy, their_energy, statistic).effects
                   : stats::make_round(ours, theirs, statistic).effects;
  };
  for (std::int64_t pair = 0; pair < kPairs; ++pair) {
    for (const bool candidate_now : pair % 2 == 0 ? std::array{false, true} : std::array{true, false}) {
      TrialProcess& process = candidate_now ? candidate : *baseline_;
      const std::int64_t left = std::max<std::int64_t>(deadline_ns - core::monotonic_ns(), 1'000'000);
      const std::int64_t timeout_ns = candidate_now ? left : kBaselineTimeoutNs;
      const std::int64_t count = calls_within(metered ? kEnergyBlockNs : kBlockNs, process.warm_median_ns());
      auto calls = metered ? run_metered(process, count, timeout_ns, *meter_, candidate_now ? their_energy : our_energy)
                           : process.run(count, timeout_ns);
      if (!calls && candidate_now) {
        put_out(trial, calls.error());
        return {};
      }
      AACO_TRY(calls);
      (candidate_now ? theirs : ours).push_back(durations(*calls));
      if (candidate_now) all.insert(all.end(), theirs.back().begin(), theirs.back().end());
    }
    const auto effects = effects_so_far();
    const bool hopeless = !effects.empty() && effects.front() - batches > std::log(kHopelessRatio);
    if (hopeless || core::monotonic_ns() > deadline_ns) break;
  }
  const auto effects = effects_so_far();
  if (effects.empty()) {
    put_out(trial, core::Error{core::ErrorCode::io, "no pair of blocks completed", {}, {}});
    return {};
  }
  trial.log_effects.push_back(stats::median(effects) - batches);
  trial.pairs += static_cast<std::int64_t>(effects.size());
  std::sort(all.begin(), all.end());
  trial.median_ns = stats::median(all);
  trial.p99_ns = stats::quantile_of_sorted(all, 0.99);
  std::vector<double> base;
  for (const auto& block : ours) base.insert(base.end(), block.begin(), block.end());
  trial.baseline_median_ns = stats::median(base);
  return {};
}

core::Status TrialBench::measure(Trial& trial, std::int64_t deadline_ns) {
  if (life_++ >= kMaxLife) AACO_TRY(renew_baseline());
  const std::int64_t begin = core::monotonic_ns();
  AACO_ASSIGN(const RunRequest configuration, space_->apply(trial.configuration, request_->base));
  auto candidate = start(configuration, deadline_ns);
  deadline_ns = std::min(deadline_ns, core::monotonic_ns() + patience_ns() + (meter_ ? kMeteredBlocksNs : kTrialBlocksNs));
  if (!candidate) {
    put_out(trial, candidate.error());
  } else {
    trial.batch = candidate->batch();
    trial.load_ns = candidate->load_ns();
    trial.nodes_by_provider = candidate->described()["runtime"]["nodes_by_provider"];
    AACO_TRY(run_pairs(trial, *candidate, deadline_ns));
    trial.rss_peak_bytes = candidate->rss_peak_bytes();
    if (trial.usable() && request_->objective == "memory" && rss_bytes_ > 0 && trial.rss_peak_bytes > 0)
      trial.log_effects.back() = std::log(static_cast<double>(trial.rss_peak_bytes) / static_cast<double>(rss_bytes_));
    if (trial.usable() && request_->slo_p99 && trial.p99_ns > static_cast<double>(request_->slo_p99->count())) {
      trial.outcome = "slo";
      trial.reason = fmt::format("P99 latency {} exceeds {}", core::format_duration(trial.p99_ns),
                                 core::format_duration(static_cast<double>(request_->slo_p99->count())));
    }
  }
  trial.wall_ns += core::monotonic_ns() - begin;
  return {};
}

bool TrialBench::changes_precision(const Trial& trial) const {
  const auto configuration = space_->apply(trial.configuration, request_->base);
  return configuration && workflows::changes_precision(*configuration);
}

core::Status TrialBench::check_outputs(Trial& trial, std::int64_t deadline_ns) {
  AACO_ASSIGN(RunRequest configuration, space_->apply(trial.configuration, request_->base));
  // Outputs of another batch are outputs of other inputs: they are compared at the baseline's.
  configuration.batch = request_->base.batch;
  auto candidate = start(configuration, deadline_ns);
  if (!candidate) {
    put_out(trial, candidate.error());
    return {};
  }
  const auto agreement = outputs_->compare(*candidate);
  if (!agreement) {
    put_out(trial, agreement.error());
    return {};
  }
  trial.agreement = *agreement;
  if (const std::string why = violation(*agreement, request_->tolerance); !why.empty()) {
    trial.outcome = "tolerance";
    trial.reason = why;
  } else if (workflows::changes_precision(configuration) && request_->base.inputs.empty() && !request_->accept) {
    trial.outcome = "offered";
    trial.reason = "changes precision, and accuracy on real data is unknown; give --input, or --accept to use it all the same";
  }
  return {};
}

}  // namespace aaco::workflows
