#include "importers/kineto.h"
#include "importers/kineto/facts.h"
#include "importers/kineto/reader.h"
#include "importers/stream/byte_order_mark.h"
#include "importers/stream/event_import.h"

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
    head = document_text(head);
    if (head.starts_with('{')) return contains(head, "\"traceEvents\"") || contains(head, "\"deviceProperties\"");
    if (!head.starts_with('[')) return false;
    const auto object = head.find_first_not_of(" \t\r\n", 1);
    return object != std::string_view::npos && head[object] == '{' && contains(head, "\"ph\"");
  }

  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result = empty_result("kineto");
    Reader reader(sink, options_, result.account);
    AACO_ASSIGN(const DocumentEnd end,
                import_events(source, result, [&](std::span<const TraceEvent> batch) { return reader.events(batch); }));
    reader.finish(result.facts);
    read_facts(end, result);
    AACO_TRY(sink.status());
    return result;
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Importer> make_importer(const Options& options) { return std::make_unique<KinetoImporter>(options); }

}  // namespace aaco::importers::kineto
