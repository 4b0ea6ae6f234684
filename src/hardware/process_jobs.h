#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aaco::hardware {

// A process of a job of several ranks, or of a batch system or cluster.
struct ProcessJob {
  std::int64_t process_id = 0;
  std::string job;  // the batch system's id, torchrun's run id, or the pod
  std::optional<std::int64_t> rank, local_rank;
};

// Processes below `root`/proc whose environment names a job and a rank in it, by process id. Those of other users are seen only
// with the permission to read their environment.
std::vector<ProcessJob> find_process_jobs(const std::string& root);

}  // namespace aaco::hardware
