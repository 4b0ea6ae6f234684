#include "importers/database/process_ranks.h"

#include <array>
#include <set>
#include <utility>

#include "core/numbers.h"
#include "importers/stream/tokens.h"

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

core::Json job_of_environment(const core::Json& environment) {
  constexpr std::size_t kLongest = 253;  // of a pod's name
  constexpr auto kNames = std::to_array<std::pair<const char*, const char*>>({{"LOCAL_RANK", "local_rank"},
                                                                              {"WORLD_SIZE", "world_size"},
                                                                              {"SLURM_JOB_ID", "slurm_job"},
                                                                              {"SLURM_NODEID", "slurm_node"},
                                                                              {"POD_NAME", "pod"},
                                                                              {"POD_NAMESPACE", "namespace"},
                                                                              {"NODE_NAME", "node"}});
  core::Json job;
  if (const auto rank = rank_of_environment(environment)) job.set("rank", *rank);
  for (const auto& [theirs, ours] : kNames) {
    const core::Json& value = environment[theirs];
    if (value.is_string() && !value.text().empty() && value.text().size() <= kLongest) job.set(ours, clean_utf8(value.text()));
    if (value.as_i64()) job.set(ours, std::to_string(*value.as_i64()));
  }
  return job;
}

core::Json to_json(const std::vector<RankIdentity>& ranks) {
  core::Json list = core::Json::array();
  for (const RankIdentity& identity : ranks) {
    core::Json entry = core::Json::object({{"rank", identity.rank}, {"pid", identity.pid}});
    if (!identity.host.empty()) entry.set("host", identity.host);
    entry.set_if("job", identity.job);
    list.push(std::move(entry));
  }
  return list;
}

}  // namespace aaco::importers
