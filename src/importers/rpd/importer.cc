#include <algorithm>
#include <array>

#include "importers/database/open_database.h"
#include "importers/database/unread_tables.h"
#include "importers/rpd.h"
#include "importers/rpd/reader.h"

namespace aaco::importers::rpd {
namespace {

constexpr std::array<std::string_view, 12> kTables = {
    "rocpd_metadata", "rocpd_string",    "rocpd_ustring", "rocpd_api",     "rocpd_op",        "rocpd_api_ops",
    "rocpd_copyapi",  "rocpd_kernelapi", "rocpd_monitor", "rocpd_counter", "rocpd_barrierop", "rocpd_kernelcodeobject"};

class RpdImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return {"rpd", "rocmProfileData (SQLite)", "rpd", true, Grouping::processes};
  }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    return formats::sqlite::is_database(head) &&
           (head.find("\"rocpd_op\"") != std::string_view::npos || head.find("\"rocpd_api\"") != std::string_view::npos);
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    AACO_ASSIGN(const OpenDatabase open, open_database(source));
    if (open.database.table("rocpd_op") == nullptr && open.database.table("rocpd_api") == nullptr)
      return core::fail(core::ErrorCode::invalid_input, source.name() + ": neither rocpd_op nor rocpd_api found");
    ImportResult result;
    result.account.source = "rpd";
    result.facts = core::Json::object();
    TableScan scan(open.database, source, sink, result);
    AACO_ASSIGN(const Processes processes, read_processes(scan));
    std::vector<RankIdentity> identities;
    for (const std::int64_t pid : processes.working) identities.push_back({processes.ranks.rank(pid), pid, "", {}});
    if (!identities.empty()) result.facts.set("ranks", to_json(identities));
    if (processes.ranks.count() > 1)
      result.account.notes.push_back(std::to_string(processes.ranks.count()) +
                                     " processes with GPU work, each treated as a rank");
    AACO_TRY(Reader(scan, processes).read());
    drop_unread_tables(scan, [](std::string_view name) {
      // "ext_" tables are made of the others, by tools that come with the tracer.
      return name.starts_with("sqlite_") || name.starts_with("ext_") ||
             std::find(kTables.begin(), kTables.end(), name) != kTables.end();
    });
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<RpdImporter>(); }

}  // namespace aaco::importers::rpd
