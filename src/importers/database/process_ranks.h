#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::importers {

// Which rank the rows of each process of one file belong to. With GPU work in at most one process all rows are of rank 0, and
// the ids of the others are hidden (each process counts its calls for itself); with more, each process is a rank: what its
// environment says (RANK and the like) where all say something different, else its place in the file.
class ProcessRanks {
 public:
  struct Process {
    std::int64_t key = 0;  // by which rows name it
    bool has_gpu_work = false;
    std::optional<std::int64_t> claimed;  // by its environment
  };
  explicit ProcessRanks(const std::vector<Process>& processes);
  [[nodiscard]] std::int32_t rank(std::int64_t key) const;
  // The id, or 0 where it could be taken for another process's.
  [[nodiscard]] std::uint64_t correlation(std::int64_t key, std::uint64_t id) const;
  [[nodiscard]] std::size_t count() const { return several_ ? ranks_.size() : 1; }
  // Of a file with GPU work of one process: the rank that process says it is.
  [[nodiscard]] std::optional<std::int64_t> only_claim() const { return only_claim_; }

 private:
  bool several_ = false;
  std::optional<std::int64_t> owner_;  // of the ids, with one process at work
  std::optional<std::int64_t> only_claim_;
  std::map<std::int64_t, std::int32_t> ranks_;
};

// RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID of an environment (name -> value), in this order.
std::optional<std::int64_t> rank_of_environment(const core::Json& environment);

// What an environment says of the process's place in its job: rank, local_rank, world_size, slurm_job, slurm_node, pod,
// namespace, node. Nothing else of it: an environment may hold secrets. Null where it says nothing.
core::Json job_of_environment(const core::Json& environment);

// The ranks of a file that holds several, for its facts: rank, pid, and the place in the job where it is known.
struct RankIdentity {
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::string host;
  core::Json job;
};
core::Json to_json(const std::vector<RankIdentity>& ranks);

}  // namespace aaco::importers
