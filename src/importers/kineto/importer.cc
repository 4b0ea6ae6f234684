#include "importers/kineto.h"
#include "importers/kineto/facts.h"
#include "importers/kineto/reader.h"
#include "importers/stream/byte_order_mark.h"
#include "importers/stream/damage.h"

namespace aaco::importers::kineto {
namespace {

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

class KinetoImporter final : public Importer {
 public:
  explicit KinetoImporter(const Options& options) : options_(options) {}
  [[nodiscard]] ImporterInfo info() const override {
    return {"kineto",
            "PyTorch profiler or Chrome trace (JSON)",
            "kineto",
            false,
            Grouping::traces,
            false,
            "profile with ProfilerActivity.CUDA (also on ROCm), and synchronize before the profiler stops"};
  }

  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
    const auto first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    head.remove_prefix(first);
    if (head.front() == '{') return contains(head, "\"traceEvents\"") || contains(head, "\"deviceProperties\"");
    if (head.front() != '[') return false;
    const auto object = head.find_first_not_of(" \t\r\n", 1);
    return object != std::string_view::npos && head[object] == '{' && contains(head, "\"ph\"");
  }

  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result;
    result.account.source = "kineto";
    result.facts = core::Json::object();
    Reader reader(sink, options_, result.account);
    AACO_ASSIGN(const DocumentEnd end,
                read_trace_events(source, [&](std::span<const TraceEvent> batch) { return reader.events(batch); }));
    if (!end.has_events && end.complete)
      return core::fail(core::ErrorCode::invalid_input, source.name() + ": JSON document without traceEvents");
    if (end.events == 0 && !end.complete)
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": no complete event could be read (" + end.trouble + ")");
    reader.finish(result.facts);
    if (end.malformed > 0) result.account.drop("malformed event", end.malformed);
    read_facts(end, result);
    if (!end.complete)
      report_cut(result, source.name(), end.trouble + after_bytes(end.bytes),
                 std::to_string(end.events) + " complete events before the truncation",
                 "export the trace again, or copy the complete file");
    report_trailing(result, source.name(), end.trailing);
    AACO_TRY(sink.status());
    return result;
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Importer> make_importer(const Options& options) { return std::make_unique<KinetoImporter>(options); }

}  // namespace aaco::importers::kineto
