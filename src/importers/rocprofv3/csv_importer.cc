#include "importers/rocm/table_reader.h"
#include "importers/rocm_tables.h"
#include "importers/rocprofv3.h"

namespace aaco::importers::rocprofv3 {
namespace {

class CsvImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return rocm_info("rocprofv3", "rocprofv3 table (CSV)"); }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    const rocm::Table table = rocm::table_of_head(head);
    return table != rocm::Table::unknown && table != rocm::Table::system && table != rocm::Table::roofline;
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    return rocm::import_table(source, sink, "rocprofv3");
  }
};

}  // namespace

std::unique_ptr<Importer> make_csv_importer() { return std::make_unique<CsvImporter>(); }

}  // namespace aaco::importers::rocprofv3
