#include "workflows/optimize/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/clock.h"
#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using analytics::configsearch::Configuration;
using analytics::configsearch::Exploration;
using analytics::configsearch::Standing;

constexpr std::uint64_t kSearchSeed = 20;
constexpr std::size_t kMaxContenders = 8;
constexpr std::size_t kMinTrials = 2;      // even where a short budget leaves no time for racing
constexpr std::size_t kFullRounds = 5;     // of the last contender, where time allows
constexpr double kExploreShare = 0.5;      // of the budget
constexpr double kRaceShare = 0.2;         // the proof has the rest
constexpr std::int64_t kProofStarts = 20;  // process starts that a proof has time for, where the budget allows
constexpr double kMaxProofShare = 0.6;
constexpr std::int64_t kMinProofStarts = 8;          // four rounds of both sides
constexpr std::int64_t kMinProofNs = 2'500'000'000;  // and their calls
constexpr std::int64_t kTrialNs = 300'000'000;       // blocks of a trial

std::int64_t least_proof_ns(std::int64_t start_ns) { return kMinProofStarts * start_ns + kMinProofNs; }

double effect_of(const Trial& trial) { return analytics::configsearch::typical_effect({0, trial.log_effects}); }

std::string gain_text(double log_effect, const OptimizeRequest& request) {
  return core::format_signed_percent(request.objective == "throughput" ? std::expm1(-log_effect) : std::expm1(log_effect));
}

class Search {
 public:
  Search(const OptimizeRequest& request, const Space& space, TrialBench& bench, Journal& journal, const SearchTimes& times,
         const Services& services)
      : request_(request), space_(space), bench_(bench), journal_(journal), times_(times), services_(services) {}

  core::Result<SearchResult> run() {
    AACO_TRY(explore());
    AACO_TRY(race());
    result_.winner = best_;
    return std::move(result_);
  }

 private:
  core::Status explore() {
    Exploration exploration(space_.sizes(), space_.candidates(), kSearchSeed);
    for (Trial trial : journal_.earlier()) {
      if (trial.configuration.size() != space_.axes.size()) continue;
      if (trial.outcome == "offered" && request_.accept) {
        trial.outcome = "ok";
        trial.reason.clear();
      }
      report(exploration, trial);
      result_.trials.push_back(std::move(trial));
    }
    const auto late = [&] {
      const bool few = result_.trials.size() < kMinTrials;
      return core::monotonic_ns() >= (few ? race_until() : std::min(times_.explore_until_ns, race_until() - bench_.check_ns()));
    };
    while (!services_.stopping() && !late()) {
      const auto next = exploration.next();
      if (!next) break;
      Trial trial;
      trial.configuration = *next;
      trial.values = space_.values(*next);
      AACO_TRY(bench_.measure(trial, times_.race_until_ns));
      AACO_TRY(check_early(trial));
      AACO_TRY(journal_.add(trial));
      report(exploration, trial);
      result_.trials.push_back(std::move(trial));
      show(result_.trials.back());
    }
    result_.untried = exploration.untried();
    return {};
  }

  // As planned, or earlier where processes start more slowly than they did at first: the proof needs its rounds.
  [[nodiscard]] std::int64_t race_until() const {
    return std::min(times_.race_until_ns, times_.end_ns - least_proof_ns(bench_.start_ns()));
  }

  // Fewer bits alone that are faster and cannot be chosen are not tried in combinations: these would be refused as well.
  core::Status check_early(Trial& trial) {
    const bool alone = analytics::configsearch::changes(trial.configuration) == 1;
    if (!alone || !trial.usable() || trial.log_effects.empty() || effect_of(trial) >= 0 || !bench_.changes_precision(trial))
      return {};
    return bench_.check_outputs(trial, times_.end_ns);
  }

  static void report(Exploration& exploration, const Trial& trial) {
    if (trial.log_effects.empty() || (!trial.usable() && analytics::configsearch::changes(trial.configuration) == 1))
      exploration.fail(trial.configuration);
    else
      exploration.add(trial.configuration, trial.log_effects.front());
  }

  void show(const Trial& trial) const {
    const Trial* best = nullptr;
    for (const Trial& one : result_.trials)
      if (one.usable() && !one.log_effects.empty() && (best == nullptr || effect_of(one) < effect_of(*best))) best = &one;
    services_.progress(
        fmt::format("trial {}: {} {}; best so far: {}", result_.trials.size(), space_.name(trial.configuration),
                    trial.usable() ? gain_text(effect_of(trial), request_) : trial.outcome,
                    best == nullptr ? "none" : space_.name(best->configuration) + " " + gain_text(effect_of(*best), request_)));
  }

  // The usable trials that are faster than the baseline, best first.
  std::vector<std::size_t> promising() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < result_.trials.size(); ++i) {
      const Trial& trial = result_.trials[i];
      if (trial.usable() && !trial.log_effects.empty() && effect_of(trial) < 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return effect_of(result_.trials[a]) < effect_of(result_.trials[b]); });
    return order;
  }

  // Those among the promising whose outputs agree; the next best takes the place of one that is out.
  core::Result<std::vector<Standing>> contenders() {
    std::vector<Standing> accepted;
    for (const std::size_t i : promising()) {
      if (accepted.size() >= kMaxContenders || (services_.stopping() && !accepted.empty())) break;
      if (!accepted.empty() && core::monotonic_ns() + bench_.check_ns() > race_until()) break;
      Trial& trial = result_.trials[i];
      if (!trial.agreement) {
        services_.progress("comparing the outputs of " + space_.name(trial.configuration));
        AACO_TRY(bench_.check_outputs(trial, times_.end_ns));
        AACO_TRY(journal_.add(trial));
      }
      if (trial.usable()) accepted.push_back({i, trial.log_effects});
    }
    return accepted;
  }

  core::Status race() {
    AACO_ASSIGN(std::vector<Standing> standings, contenders());
    if (standings.empty()) return {};
    best_ = standings.front().contender;
    const auto over = [&] { return services_.stopping() || core::monotonic_ns() + bench_.start_ns() + kTrialNs >= race_until(); };
    while (!over() && (standings.size() > 1 || standings.front().log_effects.size() < kFullRounds)) {
      AACO_TRY(bench_.renew_baseline());
      for (Standing& one : standings) {
        if (over()) break;
        Trial& trial = result_.trials[one.contender];
        AACO_TRY(bench_.measure(trial, times_.end_ns));
        AACO_TRY(journal_.add(trial));
        one.log_effects = trial.log_effects;
        show(trial);
      }
      std::erase_if(standings, [&](const Standing& one) { return !result_.trials[one.contender].usable(); });
      if (standings.empty()) break;
      standings = better_half(std::move(standings));
      best_ = standings.front().contender;
    }
    if (standings.empty()) best_.reset();
    return {};
  }

  const OptimizeRequest& request_;
  const Space& space_;
  TrialBench& bench_;
  Journal& journal_;
  const SearchTimes& times_;
  const Services& services_;
  SearchResult result_;
  std::optional<std::size_t> best_;
};

}  // namespace

std::int64_t least_time_ns(std::int64_t start_ns, std::int64_t check_ns) {
  return static_cast<std::int64_t>(kMinTrials) * (start_ns + kTrialNs) + check_ns + least_proof_ns(start_ns);
}

SearchTimes plan_times(std::int64_t begin_ns, std::int64_t budget_ns, std::int64_t start_ns, std::int64_t check_ns) {
  const auto budget = static_cast<double>(budget_ns);
  const double starts = static_cast<double>(kProofStarts) * static_cast<double>(start_ns);
  const double proof = std::max(std::clamp(starts, (1 - kExploreShare - kRaceShare) * budget, kMaxProofShare * budget),
                                static_cast<double>(least_proof_ns(start_ns)));
  const double searching = std::max(budget - proof, 0.0);
  const double explore = std::clamp(searching * kExploreShare / (kExploreShare + kRaceShare), 0.0,
                                    std::max(searching - static_cast<double>(check_ns), 0.0));
  return {begin_ns, begin_ns + static_cast<std::int64_t>(explore), begin_ns + static_cast<std::int64_t>(searching),
          begin_ns + budget_ns};
}

core::Result<SearchResult> search_space(const OptimizeRequest& request, const Space& space, TrialBench& bench, Journal& journal,
                                        const SearchTimes& times, const Services& services) {
  return Search(request, space, bench, journal, times, services).run();
}

}  // namespace aaco::workflows
