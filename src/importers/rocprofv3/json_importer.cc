#include "importers/rocprofv3.h"
#include "importers/rocprofv3/json_reader.h"

namespace aaco::importers::rocprofv3 {
namespace {

class JsonImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return {"rocprofv3", "rocprofv3 trace (JSON)"}; }

  // The one member of the document stands at its front.
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
    const auto first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || head[first] != '{') return false;
    return head.substr(first, 4096).find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
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
                        source.name() + ": no JSON document of rocprofv3 (it has no member rocprofiler-sdk-tool)");
    if (!end.complete && result.account.kept == 0)
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": not one whole record could be read (" + end.trouble + ")");
    if (!end.complete) report_cut(source, end, result);
    if (end.trailing > 0) {
      result.account.state = trace::Account::State::partial;
      result.account.reason = std::to_string(end.trailing) + " bytes behind the end of the document were not read";
      result.account.notes.push_back(result.account.reason);
    }
    AACO_TRY(sink.status());
    return result;
  }

 private:
  static void report_cut(const trace::ByteSource& source, const WalkEnd& end, ImportResult& result) {
    trace::Account& account = result.account;
    account.state = trace::Account::State::partial;
    account.reason = "cut: " + end.trouble + ", after " + std::to_string(end.bytes) + " bytes";
    account.notes.push_back(account.reason);
    result.warnings.push_back({"import.truncated",
                               source.name() + " is cut (" + end.trouble + "): " + std::to_string(account.kept) +
                                   " records before the cut are kept, totals are lower bounds",
                               "copy the whole file again"});
  }
};

}  // namespace

std::unique_ptr<Importer> make_json_importer() { return std::make_unique<JsonImporter>(); }

}  // namespace aaco::importers::rocprofv3
