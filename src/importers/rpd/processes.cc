#include "importers/rpd/processes.h"

#include <set>

namespace aaco::importers::rpd {
namespace {
constexpr std::size_t kMaxProcesses = 1000;
}

core::Result<Processes> read_processes(TableScan& scan) {
  const auto& database = scan.database();
  Processes processes;
  for (const auto& [table, name] :
       {std::pair("rocpd_api_ops", "api_id"), std::pair("rocpd_api_ops", "op_id"), std::pair("rocpd_api", "id"),
        std::pair("rocpd_api", "pid"), std::pair("rocpd_op", "id"), std::pair("rocpd_op", "gpuId")})
    if (!database.has(table, name)) return processes;
  std::map<std::int64_t, std::set<std::int64_t>> users;  // of devices
  std::set<std::int64_t> working;
  AACO_TRY(
      scan.rows(database.query("SELECT DISTINCT a.pid,o.gpuId FROM main.rocpd_api_ops j JOIN main.rocpd_api a ON a.id=j.api_id "
                               "JOIN main.rocpd_op o ON o.id=j.op_id"),
                [&](const formats::sqlite::Rows& row) {
                  if (!row.integer(0) || working.size() >= kMaxProcesses) return;
                  working.insert(*row.integer(0));
                  users[row.integer(1).value_or(0)].insert(*row.integer(0));
                }));
  std::vector<ProcessRanks::Process> list;
  for (const std::int64_t pid : working) list.push_back({pid, true, std::nullopt});
  processes.ranks = ProcessRanks(list);
  processes.working.assign(working.begin(), working.end());
  for (const auto& [device, pids] : users)
    if (pids.size() == 1) processes.of_device[device] = processes.ranks.rank(*pids.begin());
  return processes;
}

}  // namespace aaco::importers::rpd
