#include "importers/rpd/processes.h"

#include <set>

namespace aaco::importers::rpd {
namespace {
constexpr std::size_t kMaxProcesses = 1000;
using Users = std::map<std::int64_t, std::set<std::int64_t>>;

std::map<std::int64_t, std::int32_t> owners(const Users& users, const ProcessRanks& ranks) {
  std::map<std::int64_t, std::int32_t> owned;
  for (const auto& [what, pids] : users)
    if (pids.size() == 1) owned[what] = ranks.rank(*pids.begin());
  return owned;
}

}  // namespace

std::int64_t id_range(std::int64_t id) { return id >> 32; }

std::optional<std::int32_t> Processes::rank_of_work(std::int64_t id, std::int64_t device) const {
  if (const auto place = of_ids.find(id_range(id)); place != of_ids.end()) return place->second;
  if (const auto place = of_device.find(device); place != of_device.end()) return place->second;
  return working.size() > 1 ? std::nullopt : std::optional<std::int32_t>(0);
}

core::Result<Processes> read_processes(TableScan& scan) {
  const auto& database = scan.database();
  Processes processes;
  for (const auto& [table, name] :
       {std::pair("rocpd_api_ops", "api_id"), std::pair("rocpd_api_ops", "op_id"), std::pair("rocpd_api", "id"),
        std::pair("rocpd_api", "pid"), std::pair("rocpd_op", "id"), std::pair("rocpd_op", "gpuId")})
    if (!database.has(table, name)) return processes;
  Users devices, ranges;  // of ids
  std::set<std::int64_t> working;
  AACO_TRY(scan.rows(database.query("SELECT DISTINCT a.pid,o.gpuId,o.id>>32 FROM main.rocpd_api_ops j JOIN main.rocpd_api a ON "
                                    "a.id=j.api_id JOIN main.rocpd_op o ON o.id=j.op_id"),
                     [&](const formats::sqlite::Rows& row) {
                       if (!row.integer(0) || working.size() >= kMaxProcesses) return;
                       working.insert(*row.integer(0));
                       devices[row.integer(1).value_or(0)].insert(*row.integer(0));
                       ranges[row.integer(2).value_or(0)].insert(*row.integer(0));
                     }));
  std::vector<ProcessRanks::Process> list;
  for (const std::int64_t pid : working) list.push_back({pid, true, std::nullopt});
  processes.ranks = ProcessRanks(list);
  processes.working.assign(working.begin(), working.end());
  processes.of_device = owners(devices, processes.ranks);
  processes.of_ids = owners(ranges, processes.ranks);
  return processes;
}

}  // namespace aaco::importers::rpd
