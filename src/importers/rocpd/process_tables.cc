#include "importers/rocpd/process_tables.h"

#include <array>

#include "core/strings.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::rocpd {
namespace {

using core::Json;
using formats::sqlite::Rows;

constexpr std::size_t kMaxListed = 1000;  // agents, processes, threads in the facts and in memory
constexpr std::size_t kMaxThreads = 1'000'000;
constexpr std::array<std::string_view, 6> kDataTables = {"rocpd_kernel_dispatch", "rocpd_region", "rocpd_memory_copy",
                                                         "rocpd_memory_allocate", "rocpd_sample", "rocpd_pmc_event"};

Json& list_of(Json& facts, const char* key) {
  if (!facts.contains(key)) facts.set(key, Json::array());
  return const_cast<Json&>(facts[key]);
}

void list(Json& facts, const char* key, Json entry) {
  if (facts[key].items().size() < kMaxListed) list_of(facts, key).push(std::move(entry));
}

std::vector<TableGroup> find_groups(const formats::sqlite::Database& database) {
  std::set<std::string> suffixes;
  for (const auto& table : database.tables())
    for (const std::string_view name : kDataTables)
      if (table.name.starts_with(name)) {
        const std::string suffix = table.name.substr(name.size());
        if (suffix.empty() || suffix[0] == '_') suffixes.insert(suffix);
      }
  std::vector<TableGroup> groups;
  for (const std::string& suffix : suffixes) {
    groups.emplace_back();
    groups.back().index = groups.size() - 1;
    groups.back().suffix = suffix;
  }
  return groups;
}

core::Status read_machine(TableScan& scan, TableGroup& group) {
  Json& facts = scan.result().facts;
  std::map<std::int64_t, std::string> hosts;
  AACO_TRY(scan.table(group.table("rocpd_metadata"), {"tag", "value"}, [&](const Rows& row) {
    if (row.text(0) == "schema_version" && row.text(1) != "3")
      scan.result().warnings.push_back(
          {"import.other_schema", "the database has schema " + clean_utf8(row.text(1)) + "; this version of aaco supports 3",
           "compare the totals with the 'top' view of the database"});
    facts.set("schema_version", clean_utf8(row.text(1)));
  }));
  AACO_TRY(scan.table(group.table("rocpd_info_node"), {"hostname", "system_name", "release", "id"}, [&](const Rows& row) {
    if (scan.result().host.empty()) scan.result().host = clean_utf8(row.text(0));
    if (hosts.size() < kMaxListed) hosts.try_emplace(row.integer(3).value_or(0), clean_utf8(row.text(0)));
    list(facts, "nodes",
         Json::object(
             {{"host", clean_utf8(row.text(0))}, {"system", clean_utf8(row.text(1))}, {"release", clean_utf8(row.text(2))}}));
  }));
  AACO_TRY(scan.table(group.table("rocpd_info_process"), {"id", "pid", "command", "environment", "nid"}, [&](const Rows& row) {
    if (group.processes.size() >= kMaxListed) return;
    TableGroup::Process process;
    process.pid = row.integer(1).value_or(0);
    if (const auto environment = Json::parse(row.text(3))) {
      process.claimed_rank = rank_of_environment(*environment);
      process.job = job_of_environment(*environment);
    }
    if (const auto host = hosts.find(row.integer(4).value_or(0)); host != hosts.end()) process.host = host->second;
    group.processes.try_emplace(row.integer(0).value_or(0), process);
    list(facts, "processes", Json::object({{"pid", process.pid}, {"command", clean_utf8(row.text(2).substr(0, 4096))}}));
  }));
  AACO_TRY(scan.table(group.table("rocpd_info_thread"), {"id", "tid"}, [&](const Rows& row) {
    if (group.threads.size() < kMaxThreads) group.threads.try_emplace(row.integer(0).value_or(0), row.integer(1).value_or(0));
  }));
  return scan.table(
      group.table("rocpd_info_agent"),
      {"id", "type", "logical_index", "absolute_index", "type_index", "name", "product_name", "model_name"},
      [&](const Rows& row) {
        if (group.agents.size() >= kMaxListed) return;
        TableGroup::Agent agent;
        agent.is_gpu = core::to_lower(row.text(1)) == "gpu";
        for (const int column : {2, 3, 4, 0})
          if (const auto number = row.integer(column)) {
            agent.number = *number;
            break;
          }
        group.agents.try_emplace(row.integer(0).value_or(0), agent);
        Json entry = Json::object({{"device", agent.number}, {"type", clean_utf8(row.text(1))}});
        entry.set("name", clean_utf8(row.text(5))).set("product", clean_utf8(row.text(6))).set("model", clean_utf8(row.text(7)));
        entry.set_if("type_index", Json(row.integer(4)));
        entry.set_if("node", Json(row.integer(3)));
        list(facts, "agents", std::move(entry));
        if (agent.is_gpu)
          list(facts, "devices",
               Json::object({{"id", agent.number},
                             {"name", clean_utf8(row.text(row.text(6).empty() ? 7 : 6))},
                             {"target", clean_utf8(row.text(5))}}));
      });
}

core::Status find_working_processes(TableScan& scan, TableGroup& group) {
  for (const char* table : {"rocpd_kernel_dispatch", "rocpd_memory_copy"}) {
    const std::string name = group.table(table);
    if (!scan.database().has(name, "pid")) continue;
    AACO_TRY(scan.rows(scan.database().query("SELECT DISTINCT pid FROM main.\"" + core::replace_all(name, "\"", "\"\"") + '"'),
                       [&](const Rows& row) {
                         if (group.processes.size() < kMaxListed) group.processes[row.integer(0).value_or(0)].has_gpu_work = true;
                       }));
  }
  return {};
}

}  // namespace

core::Result<std::vector<TableGroup>> read_groups(TableScan& scan) {
  std::vector<TableGroup> groups = find_groups(scan.database());
  for (TableGroup& group : groups) {
    AACO_TRY(read_machine(scan, group));
    AACO_TRY(find_working_processes(scan, group));
  }
  return groups;
}

ProcessRanks ranks_of(const std::vector<TableGroup>& groups) {
  std::vector<ProcessRanks::Process> processes;
  for (const TableGroup& group : groups)
    for (const auto& [number, process] : group.processes)
      processes.push_back({group.key(number), process.has_gpu_work, process.claimed_rank});
  return ProcessRanks(processes);
}

std::vector<RankIdentity> identities_of(const std::vector<TableGroup>& groups, const ProcessRanks& ranks) {
  std::vector<RankIdentity> identities;
  for (const TableGroup& group : groups)
    for (const auto& [number, process] : group.processes)
      identities.push_back({ranks.rank(group.key(number)), process.pid, process.host, process.job});
  return identities;
}

}  // namespace aaco::importers::rocpd
