#include <algorithm>

#include "core/strings.h"
#include "importers/rocm/table_reader.h"
#include "importers/rocm_tables.h"
#include "importers/rocprof.h"

namespace aaco::importers::rocprof {
namespace {

bool is_one_of(std::string_view heading, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), heading) != words.end();
}

// "results.stats.csv", "results.hip_stats.csv"; rocprofv3's have no point in front ("out_kernel_stats.csv").
bool is_statistics_name(std::string_view name) {
  constexpr std::string_view kEnd = "stats.csv";
  const auto end = name.find(kEnd);
  if (end == std::string_view::npos) return false;
  return name.substr(0, end).find('.') != std::string_view::npos;
}

class CsvImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return rocm_info("rocprof", "rocprof or rocprofv2 table (CSV)"); }
  // By the spellings that only these two have; rocprof's statistics have five columns and ".stats.csv" at the end of their name.
  [[nodiscard]] bool sniff(std::string_view head, std::string_view file_name) const override {
    std::vector<std::string> headings;
    const rocm::Table table = rocm::table_of_head(head, &headings);
    if (table == rocm::Table::unknown) return false;
    if (table == rocm::Table::statistics) return headings.size() == 5 && is_statistics_name(file_name);
    return std::any_of(headings.begin(), headings.end(), [](const std::string& heading) {
      return is_one_of(heading, {"KernelName", "gpu-id", "BeginNs", "GPU_ID", "Correlation_ID", "Dispatch_ID"});
    });
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    return rocm::import_table(source, sink, "rocprof");
  }
};

}  // namespace

std::unique_ptr<Importer> make_csv_importer() { return std::make_unique<CsvImporter>(); }

}  // namespace aaco::importers::rocprof
