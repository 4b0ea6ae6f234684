#include "importers/database/open_database.h"
#include "importers/nsys.h"
#include "importers/nsys/reader.h"

namespace aaco::importers::nsys {
namespace {

class NsysImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return {"nsys", "Nsight Systems export (SQLite)"}; }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    return formats::sqlite::is_database(head) && head.find("StringIds") != std::string_view::npos;
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    AACO_ASSIGN(const OpenDatabase open, open_database(source));
    const auto& database = open.database;
    if (database.table("StringIds") == nullptr ||
        (!database.has("CUPTI_ACTIVITY_KIND_KERNEL", "start") && !database.has("CUPTI_ACTIVITY_KIND_RUNTIME", "start") &&
         !database.has("NVTX_EVENTS", "start") && !database.has("OSRT_API", "start") &&
         !database.has("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "start") && !database.has("CUPTI_ACTIVITY_KIND_MEMCPY", "start")))
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": it has no table of CUDA work, CUDA calls or NVTX ranges that Nsight Systems exports",
                        "trace them (nsys profile --trace=cuda,nvtx), or export the report again");
    ImportResult result;
    result.account.source = "nsys";
    result.facts = core::Json::object();
    TableScan scan(database, source, sink, result);
    AACO_TRY(read_machine(scan));
    AACO_ASSIGN(const ProcessRanks ranks, read_ranks(scan));
    result.rank = ranks.only_claim();
    if (ranks.count() > 1)
      result.account.notes.push_back(std::to_string(ranks.count()) + " processes with GPU work: each is a rank");
    AACO_TRY(Reader(scan, ranks).read());
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<NsysImporter>(); }

}  // namespace aaco::importers::nsys
