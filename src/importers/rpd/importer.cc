#include "importers/database/open_database.h"
#include "importers/rpd.h"
#include "importers/rpd/reader.h"

namespace aaco::importers::rpd {
namespace {

class RpdImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return {"rpd", "rocmProfileData (SQLite)"}; }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    return formats::sqlite::is_database(head) &&
           (head.find("\"rocpd_op\"") != std::string_view::npos || head.find("\"rocpd_api\"") != std::string_view::npos);
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    AACO_ASSIGN(const OpenDatabase open, open_database(source));
    if (open.database.table("rocpd_op") == nullptr && open.database.table("rocpd_api") == nullptr)
      return core::fail(core::ErrorCode::invalid_input, source.name() + ": it has neither rocpd_op nor rocpd_api");
    ImportResult result;
    result.account.source = "rpd";
    result.facts = core::Json::object();
    TableScan scan(open.database, source, sink, result);
    AACO_TRY(Reader(scan).read());
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<RpdImporter>(); }

}  // namespace aaco::importers::rpd
