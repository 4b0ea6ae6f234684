#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "importers/database/process_ranks.h"
#include "importers/database/table_scan.h"

namespace aaco::importers::rocpd {

// The tables with one suffix; rows name processes, threads and agents by their numbers in it.
struct TableGroup {
  std::size_t index = 0;
  std::string suffix;  // "_0000123_..." or empty
  struct Agent {
    std::int64_t number = 0;
    bool is_gpu = false;
  };
  struct Process {
    std::int64_t pid = 0;
    bool has_gpu_work = false;
    std::optional<std::int64_t> claimed_rank;
    std::string host;
    core::Json job;
  };
  std::map<std::int64_t, Agent> agents;
  std::map<std::int64_t, Process> processes;
  std::map<std::int64_t, std::int64_t> threads;  // number -> TID

  [[nodiscard]] std::string table(const char* name) const { return name + suffix; }
  // A process of any group as one number.
  [[nodiscard]] std::int64_t key(std::int64_t process) const {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(index) << 40U) ^ static_cast<std::uint64_t>(process));
  }
};

// All groups of a database, with facts about nodes, processes and agents (no environment: it may hold secrets).
core::Result<std::vector<TableGroup>> read_groups(TableScan& scan);

ProcessRanks ranks_of(const std::vector<TableGroup>& groups);
std::vector<RankIdentity> identities_of(const std::vector<TableGroup>& groups, const ProcessRanks& ranks);

}  // namespace aaco::importers::rocpd
