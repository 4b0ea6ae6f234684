#include <algorithm>

#include "importers/rocm/table_reader.h"
#include "importers/rocm_tables.h"
#include "importers/rocprof_compute.h"

namespace aaco::importers::rocprof_compute {
namespace {

class ComputeImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return rocm_info("rocprof_compute", "rocprof-compute workload (CSV)", false, false);
  }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view file_name) const override {
    std::vector<std::string> headings;
    const rocm::Table table = rocm::table_of_head(head, &headings);
    if (table == rocm::Table::system || table == rocm::Table::roofline) return true;
    if (table != rocm::Table::kernels && table != rocm::Table::counters) return false;
    const bool named = file_name.starts_with("pmc_") || file_name.starts_with("SQ_") || file_name.starts_with("timestamps");
    return named && std::find(headings.begin(), headings.end(), "Dispatch_ID") != headings.end();
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    return rocm::import_table(source, sink, "rocprof_compute");
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<ComputeImporter>(); }

}  // namespace aaco::importers::rocprof_compute
