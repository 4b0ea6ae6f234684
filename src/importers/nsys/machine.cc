#include "importers/nsys/machine.h"

#include <map>
#include <set>

#include "core/strings.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::nsys {
namespace {

using core::Json;
using formats::sqlite::Rows;

constexpr std::size_t kMaxListed = 1000;
constexpr std::size_t kMaxComplaints = 20;
constexpr std::int64_t kWarning = 2;
constexpr std::int64_t kError = 3;

core::Status read_gpus(TableScan& scan, Json& facts) {
  Json gpus = Json::array();
  AACO_TRY(scan.table("TARGET_INFO_GPU",
                      {"id", "name", "busLocation", "uuid", "smCount", "totalMemory", "memoryBandwidth", "clockRate", "chipName"},
                      [&](const Rows& row) {
                        if (gpus.items().size() >= kMaxListed) return;
                        Json gpu = Json::object({{"name", clean_utf8(row.text(1))}});
                        gpu.set_if("id", Json(row.integer(0)));
                        if (!row.text(2).empty()) gpu.set("pci_address", clean_utf8(row.text(2)));
                        if (!row.text(3).empty()) gpu.set("uuid", clean_utf8(row.text(3)));
                        if (!row.text(8).empty()) gpu.set("chip", clean_utf8(row.text(8)));
                        gpu.set_if("compute_unit_count", Json(row.integer(4)));
                        gpu.set_if("memory_bytes", Json(row.integer(5)));
                        gpu.set_if("memory_bandwidth_bytes_per_second", Json(row.integer(6)));
                        gpu.set_if("clock_hz", Json(row.integer(7)));
                        gpus.push(std::move(gpu));
                      }));
  if (!gpus.items().empty()) facts.set("devices", std::move(gpus));
  return {};
}

core::Status read_complaints(TableScan& scan, Json& facts) {
  Json complaints = Json::array();
  std::int64_t count = 0;
  AACO_TRY(scan.table("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const Rows& row) {
    const auto severity = row.integer(0).value_or(0);
    if (severity != kWarning && severity != kError) return;
    ++count;
    if (complaints.items().size() < kMaxComplaints) complaints.push(clean_utf8(row.text(1).substr(0, 500)));
  }));
  if (count == 0) return {};
  scan.result().warnings.push_back(
      {"import.profiler_warned",
       "Nsight Systems reported " + std::to_string(count) + " warnings; the first: " + std::string(complaints.items()[0].text()),
       "env.json lists all of them"});
  facts.set("diagnostics", std::move(complaints));
  return {};
}

}  // namespace

core::Status read_machine(TableScan& scan) {
  Json& facts = scan.result().facts;
  Json versions = Json::object();
  AACO_TRY(scan.table("META_DATA_EXPORT", {"name", "value"}, [&](const Rows& row) {
    if (row.text(0) == "EXPORT_PRODUCT_VERSION") versions.set("product", clean_utf8(row.text(1)));
    if (row.text(0) == "EXPORT_SCHEMA_VERSION") versions.set("schema", clean_utf8(row.text(1)));
  }));
  if (!versions.members().empty()) facts.set("versions", std::move(versions));
  std::string display_name;
  AACO_TRY(scan.table("META_DATA_CAPTURE", {"name", "value"}, [&](const Rows& row) {
    if (row.text(0) == "DEVICE_DISPLAY_NAME" && display_name.empty()) display_name = clean_utf8(row.text(1));
    if (row.text(0) == "PROCESS_0:COMMAND") facts.set("command", clean_utf8(row.text(1).substr(0, 4096)));
  }));
  AACO_TRY(scan.table("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, [&](const Rows& row) {
    if (core::to_lower(row.text(0)) == "hostname" && scan.result().host.empty()) scan.result().host = clean_utf8(row.text(1));
  }));
  if (scan.result().host.empty()) scan.result().host = display_name;
  AACO_TRY(scan.table("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](const Rows& row) {
    if (const auto start = row.integer(0)) facts.set("base_time_ns", *start);
  }));
  AACO_TRY(read_gpus(scan, facts));
  return read_complaints(scan, facts);
}

core::Result<ProcessRanks> read_ranks(TableScan& scan) {
  std::set<std::int64_t> working;
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}) {
    if (!scan.database().has(table, "globalPid")) continue;
    AACO_TRY(scan.rows(scan.database().query(std::string("SELECT DISTINCT globalPid FROM main.") + table), [&](const Rows& row) {
      if (const auto id = row.integer(0); id && working.size() < kMaxListed) working.insert(process_of(*id));
    }));
  }
  // The environment is that of the process that nsys started: it speaks for one process only.
  Json environment = Json::object();
  AACO_TRY(scan.table("META_DATA_CAPTURE", {"name", "value"}, [&](const Rows& row) {
    if (row.text(0) != "PROCESS_0:ENVIRONMENT_VARIABLE") return;
    const std::string_view text = row.text(1);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals > 32 || text.size() > 320) return;
    std::string_view value = text.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    environment.set(text.substr(0, equals), value);
  }));
  std::map<std::int64_t, std::int64_t> claims;  // by process, of MPI
  AACO_TRY(scan.table("MPI_RANKS", {"globalTid", "rank"}, [&](const Rows& row) {
    if (row.integer(0) && row.integer(1) && *row.integer(1) >= 0 && claims.size() < kMaxListed)
      claims.try_emplace(process_of(*row.integer(0)), *row.integer(1));
  }));
  std::vector<ProcessRanks::Process> processes;
  for (const std::int64_t pid : working) {
    std::optional<std::int64_t> claimed = working.size() == 1 ? rank_of_environment(environment) : std::nullopt;
    if (const auto own = claims.find(pid); !claimed && own != claims.end()) claimed = own->second;
    processes.push_back({pid, true, claimed});
  }
  const ProcessRanks ranks(processes);
  std::vector<RankIdentity> identities;
  for (const std::int64_t pid : working)
    identities.push_back(
        {ranks.rank(pid), pid, scan.result().host, working.size() == 1 ? job_of_environment(environment) : Json()});
  if (!identities.empty()) scan.result().facts.set("ranks", to_json(identities));
  return ranks;
}

}  // namespace aaco::importers::nsys
