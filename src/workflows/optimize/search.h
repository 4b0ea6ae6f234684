#pragma once

#include <optional>
#include <vector>

#include "workflows/optimize/journal.h"
#include "workflows/optimize/trial_bench.h"

namespace aaco::workflows {

// The search's clock: when exploring and racing end, so that time for the proof remains.
struct SearchTimes {
  std::int64_t begin_ns = 0, explore_until_ns = 0, race_until_ns = 0, end_ns = 0;
};
// `start_ns`, `check_ns`: of a process of the model, and of comparing its outputs.
SearchTimes plan_times(std::int64_t begin_ns, std::int64_t budget_ns, std::int64_t start_ns, std::int64_t check_ns);
// What is left of a budget must be at least this: two trials, a check of outputs and a proof.
std::int64_t least_time_ns(std::int64_t start_ns, std::int64_t check_ns);

struct SearchResult {
  std::vector<Trial> trials;
  std::optional<std::size_t> winner;  // of trials: fastest in the race, its outputs within the tolerance
  std::size_t untried = 0;
};

// Explores the space, then races the best against each other in fresh processes (successive halving). Every trial is in the
// journal before the next one begins; those of an earlier search count.
core::Result<SearchResult> search_space(const OptimizeRequest& request, const Space& space, TrialBench& bench, Journal& journal,
                                        const SearchTimes& times, const Services& services);

}  // namespace aaco::workflows
