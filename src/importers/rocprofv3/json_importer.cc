#include "importers/rocm_tables.h"
#include "importers/rocprofv3.h"
#include "importers/rocprofv3/json_reader.h"
#include "importers/stream/byte_order_mark.h"
#include "importers/stream/damage.h"

namespace aaco::importers::rocprofv3 {
namespace {

class JsonImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return rocm_info("rocprofv3", "rocprofv3 trace (JSON)"); }

  // The one member of the document stands at its front.
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    head = document_text(head);
    return head.starts_with('{') && head.substr(0, 4096).find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
  }

  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result;
    result.account.source = "rocprofv3";
    result.facts = core::Json::object();
    JsonReader reader(sink, result);
    AACO_ASSIGN(const WalkEnd end, walk_json(source, reader));
    reader.finish();
    if (!reader.is_ours())
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": not a rocprofv3 JSON document (no member rocprofiler-sdk-tool)");
    if (!end.complete && result.account.kept == 0)
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": no complete record could be read (" + end.trouble + ")");
    if (!end.complete)
      report_cut(result, source.name(), end.trouble + after_bytes(end.bytes),
                 std::to_string(result.account.kept) + " records before the truncation", "copy the complete file again");
    report_trailing(result, source.name(), end.trailing);
    AACO_TRY(sink.status());
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_json_importer() { return std::make_unique<JsonImporter>(); }

}  // namespace aaco::importers::rocprofv3
