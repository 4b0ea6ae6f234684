#include "importers/database/process_ranks.h"

#include <set>

#include "core/numbers.h"

namespace aaco::importers {

ProcessRanks::ProcessRanks(const std::vector<Process>& processes) {
  std::vector<const Process*> ordered;  // those with GPU work first
  for (const bool working : {true, false})
    for (const Process& process : processes)
      if (process.has_gpu_work == working) ordered.push_back(&process);
  std::size_t working = 0;
  std::set<std::int64_t> claims;
  for (const Process* process : ordered) {
    working += process->has_gpu_work ? 1 : 0;
    if (process->claimed && *process->claimed >= 0 && *process->claimed <= INT32_MAX) claims.insert(*process->claimed);
  }
  several_ = working > 1;
  if (!several_) {
    if (!ordered.empty()) owner_ = ordered.front()->key;
    if (ordered.size() == 1 || working == 1) only_claim_ = ordered.front()->claimed;
    return;
  }
  const bool by_claim = claims.size() == ordered.size();
  for (std::size_t i = 0; i < ordered.size(); ++i)
    ranks_.try_emplace(ordered[i]->key,
                       static_cast<std::int32_t>(by_claim ? *ordered[i]->claimed : static_cast<std::int64_t>(i)));
}

std::int32_t ProcessRanks::rank(std::int64_t key) const {
  const auto place = ranks_.find(key);
  return place == ranks_.end() ? 0 : place->second;
}

std::uint64_t ProcessRanks::correlation(std::int64_t key, std::uint64_t id) const {
  if (several_) return ranks_.contains(key) ? id : 0;
  return !owner_ || *owner_ == key ? id : 0;
}

std::optional<std::int64_t> rank_of_environment(const core::Json& environment) {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const core::Json& value = environment[name];
    const auto rank = value.is_string() ? core::parse_i64(value.text()) : value.as_i64();
    if (rank && *rank >= 0 && *rank <= INT32_MAX) return rank;
  }
  return std::nullopt;
}

}  // namespace aaco::importers
