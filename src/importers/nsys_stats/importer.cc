#include "importers/nsys_stats/reader.h"
#include "importers/stream/damage.h"

namespace aaco::importers::nsys_stats {
namespace {

constexpr std::int64_t kStatusEvery = 4096;

class StatsImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return {"nsys_stats", "Nsight Systems report (nsys stats, CSV)", "nsys", false, Grouping::reports};
  }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override { return report_of(head).has_value(); }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result;
    result.account.source = "nsys_stats";
    result.facts = core::Json::object();
    Reader reader(sink, result);
    std::int64_t records = 0;
    AACO_ASSIGN(const CsvEnd end, read_csv(source, [&](const CsvFields& fields, bool terminated) -> core::Status {
                  AACO_TRY(reader.record(fields, terminated));
                  return ++records % kStatusEvery == 0 ? sink.status() : core::Status();
                }));
    AACO_TRY(reader.finish(source.name()));
    if (!end.trouble.empty() || reader.is_cut())
      report_cut(result, source.name(), end.trouble.empty() ? "the text ends mid-line" : end.trouble,
                 std::to_string(result.account.kept) + " lines before the truncation", "copy the complete file again");
    else if (!end.terminated && records > 1)
      result.account.notes.emplace_back("the last line has no newline and may be incomplete");
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<StatsImporter>(); }

}  // namespace aaco::importers::nsys_stats
