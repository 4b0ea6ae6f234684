#include "formats/sqlite.h"
#include "importers/any_database.h"
#include "importers/database/open_database.h"
#include "importers/nsys.h"
#include "importers/nsys/machine.h"
#include "importers/rocpd.h"
#include "importers/rocpd/process_tables.h"
#include "importers/rocprof_db.h"
#include "importers/rpd.h"
#include "importers/rpd/processes.h"

namespace aaco::importers::any_database {
namespace {

using formats::sqlite::Database;

std::unique_ptr<Importer> importer_of(const Database& database) {
  const std::string tables = describe(database);
  for (auto make : {rpd::make_importer, rocpd::make_importer, nsys::make_importer, rocprof_db::make_importer})
    if (auto importer = make(); importer->sniff(tables, "")) return importer;
  return nullptr;
}

// A source over a file that is there already.
class PathSource final : public trace::ByteSource {
 public:
  PathSource(std::string path, std::string name) : path_(std::move(path)), name_(std::move(name)) {}
  core::Result<std::size_t> read(std::span<char>) override { return 0; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::string path() const override { return path_; }

 private:
  std::string path_, name_;
};

class AnyDatabase final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return {"database", "profiler database (SQLite)", "database", true}; }
  // Not what describe() says of a database whose tables are all known, and none a profiler's.
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    return formats::sqlite::is_database(head) && head.substr(16, 2) != " \"";
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    AACO_ASSIGN(const OpenDatabase open, open_database(source));
    const auto importer = importer_of(open.database);
    if (!importer)
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": a SQLite database whose tables match no known profiler",
                        "supported: rocprofv3 (rocpd), rocmProfileData, rocprof and Nsight Systems exports");
    PathSource plain(open.database.path(), source.name());
    return importer->import(plain, sink);
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<AnyDatabase>(); }

Processes processes_of(const std::string& path) {
  const auto database = Database::open(path);
  if (!database) return {};
  trace::MemorySink nothing;
  ImportResult result;
  result.facts = core::Json::object();
  const PathSource source(path, path);
  TableScan scan(*database, source, nothing, result);
  const auto answer = [](const ProcessRanks& ranks) { return Processes{ranks.count(), ranks.only_claim()}; };
  if (nsys::make_importer()->sniff(describe(*database), "")) {
    const auto ranks = nsys::read_ranks(scan);
    return ranks ? answer(*ranks) : Processes();
  }
  if (rpd::make_importer()->sniff(describe(*database), "")) {
    const auto processes = rpd::read_processes(scan);
    return processes ? answer(processes->ranks) : Processes();
  }
  const auto groups = rocpd::read_groups(scan);
  return groups && !groups->empty() ? answer(rocpd::ranks_of(*groups)) : Processes();
}

}  // namespace aaco::importers::any_database
