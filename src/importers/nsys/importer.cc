#include <algorithm>
#include <array>

#include "importers/database/open_database.h"
#include "importers/nsys.h"
#include "importers/nsys/reader.h"

namespace aaco::importers::nsys {
namespace {

// Tables of which any is enough, each with a column that it cannot do without.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kEvents = {{{"CUPTI_ACTIVITY_KIND_KERNEL", "start"},
                                                                                   {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "start"},
                                                                                   {"CUPTI_ACTIVITY_KIND_MEMCPY", "start"},
                                                                                   {"CUPTI_ACTIVITY_KIND_MEMSET", "start"},
                                                                                   {"CUPTI_ACTIVITY_KIND_RUNTIME", "start"},
                                                                                   {"NVTX_EVENTS", "start"},
                                                                                   {"OSRT_API", "start"},
                                                                                   {"GPU_METRICS", "timestamp"}}};

void warn_of_names(ImportResult& result) {
  result.warnings.push_back({"import.names_missing",
                             "the export has no string table (StringIds): kernels and calls have numbers instead of names, so "
                             "their family and library are unknown",
                             "export the report again (nsys export --type sqlite --force-overwrite true)"});
}

void warn_of_kernels(const formats::sqlite::Database& database, std::int64_t calls, ImportResult& result) {
  constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
  std::string why = "the export contains no kernels: its table " + std::string(kKernels);
  why += database.table(kKernels) == nullptr ? " is missing" : " has no usable row";
  if (calls > 0) why += ", although it has " + std::to_string(calls) + " CUDA calls";
  result.warnings.push_back({"import.no_kernels", why + ": GPU time, gaps and causes are unavailable",
                             calls > 0 ? "the profiler saw no GPU work: profile a section that uses the GPU, let it finish "
                                         "before the capture stops, and keep GPU tracing on (nsys profile --trace=cuda,nvtx)"
                                       : "CUDA was not traced: use nsys profile --trace=cuda,nvtx"});
}

class NsysImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return {"nsys", "Nsight Systems export (SQLite)", "nsys", true, Grouping::processes};
  }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    const auto has = [&](std::string_view table) { return head.find(table) != std::string_view::npos; };
    // The last is the table of texts of nvprof, whose tables of work have the same names and other columns.
    return formats::sqlite::is_database(head) &&
           (has("StringIds") || ((has("CUPTI_ACTIVITY_KIND_") || has("NVTX_EVENTS")) && !has("StringTable")));
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    AACO_ASSIGN(const OpenDatabase open, open_database(source));
    const auto& database = open.database;
    if (!std::any_of(kEvents.begin(), kEvents.end(), [&](const auto& each) { return database.has(each.first, each.second); }))
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": no Nsight Systems tables with CUDA work, CUDA calls or NVTX ranges",
                        "trace CUDA and NVTX (nsys profile --trace=cuda,nvtx), or export the report again");
    ImportResult result;
    result.account.source = "nsys";
    result.facts = core::Json::object();
    TableScan scan(database, source, sink, result);
    AACO_TRY(read_machine(scan));
    AACO_ASSIGN(const ProcessRanks ranks, read_ranks(scan));
    result.rank = ranks.only_claim();
    if (ranks.count() > 1)
      result.account.notes.push_back(std::to_string(ranks.count()) + " processes with GPU work, each treated as a rank");
    Reader reader(scan, ranks);
    AACO_TRY(reader.read());
    if (database.table("StringIds") == nullptr) warn_of_names(result);
    if (reader.kernel_count() == 0) warn_of_kernels(database, reader.call_count(), result);
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<NsysImporter>(); }

}  // namespace aaco::importers::nsys
