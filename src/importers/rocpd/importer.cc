#include <algorithm>
#include <array>

#include "importers/database/open_database.h"
#include "importers/database/unread_tables.h"
#include "importers/rocm_tables.h"
#include "importers/rocpd.h"
#include "importers/rocpd/reader.h"

namespace aaco::importers::rocpd {
namespace {

// Those of schema 3; what only describes others is looked up in them.
constexpr std::array<const char*, 20> kTables = {"rocpd_metadata",
                                                 "rocpd_string",
                                                 "rocpd_info_node",
                                                 "rocpd_info_process",
                                                 "rocpd_info_thread",
                                                 "rocpd_info_agent",
                                                 "rocpd_info_queue",
                                                 "rocpd_info_stream",
                                                 "rocpd_info_pmc",
                                                 "rocpd_info_code_object",
                                                 "rocpd_info_kernel_symbol",
                                                 "rocpd_track",
                                                 "rocpd_event",
                                                 "rocpd_arg",
                                                 "rocpd_pmc_event",
                                                 "rocpd_region",
                                                 "rocpd_sample",
                                                 "rocpd_kernel_dispatch",
                                                 "rocpd_memory_copy",
                                                 "rocpd_memory_allocate"};

bool is_known(std::string_view name, const std::vector<TableGroup>& groups) {
  if (name.starts_with("sqlite_")) return true;
  return std::any_of(groups.begin(), groups.end(), [&](const TableGroup& group) {
    return std::any_of(kTables.begin(), kTables.end(), [&](const char* table) { return group.table(table) == name; });
  });
}

class RocpdImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return rocm_info("rocpd", "rocprofv3 database (rocpd, SQLite)", true); }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    return formats::sqlite::is_database(head) &&
           (head.find("rocpd_info_") != std::string_view::npos || head.find("rocpd_kernel_dispatch") != std::string_view::npos);
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    AACO_ASSIGN(const OpenDatabase open, open_database(source));
    ImportResult result;
    result.account.source = "rocpd";
    result.facts = core::Json::object();
    TableScan scan(open.database, source, sink, result);
    AACO_ASSIGN(const auto groups, read_groups(scan));
    if (groups.empty())
      return core::fail(
          core::ErrorCode::invalid_input, source.name() + ": no rocprofv3 table (rocpd_kernel_dispatch and others)",
          "the file is truncated or from an unsupported version: export it again with rocprofv3 --output-format rocpd");
    const ProcessRanks ranks = ranks_of(groups);
    result.rank = ranks.only_claim();
    result.facts.set("ranks", to_json(identities_of(groups, ranks)));
    if (ranks.count() > 1)
      result.account.notes.push_back(std::to_string(ranks.count()) + " processes with GPU work or calls, each treated as a rank");
    for (const TableGroup& group : groups) AACO_TRY(Reader(scan, group, ranks).read());
    drop_unread_tables(scan, [&](std::string_view name) { return is_known(name, groups); });
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<RocpdImporter>(); }

}  // namespace aaco::importers::rocpd
