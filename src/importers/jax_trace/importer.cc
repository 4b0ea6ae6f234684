#include <map>
#include <string>
#include <utility>

#include "importers/jax_trace.h"
#include "importers/stream/byte_order_mark.h"
#include "importers/stream/event_import.h"
#include "importers/stream/json_skim.h"
#include "importers/stream/tokens.h"
#include "importers/stream/trace_events.h"
#include "importers/xla/rows.h"

namespace aaco::importers::jax_trace {
namespace {

constexpr std::size_t kMaxPlaces = 1'000'000;  // processes and threads

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

class Reader {
 public:
  Reader(trace::Sink& sink, trace::Account& account) : sink_(sink), account_(account), rows_(sink, account) {}

  core::Status events(std::span<const TraceEvent> batch) {
    for (const TraceEvent& each : batch) event(each);
    return sink_.status();
  }
  void finish() { rows_.finish(); }

 private:
  void event(const TraceEvent& event) {
    if (event.phase == "M") return metadata(event);
    if (event.phase != "X") return account_.drop("unused event phase");
    const auto start = microseconds_to_ns(event.timestamp);
    if (!start) return account_.drop("no valid timestamp");
    const auto duration = microseconds_to_ns(event.duration.empty() ? "0" : event.duration);
    if (!duration) return account_.drop("invalid duration");
    xla::Event row;
    row.start_ns = *start;
    if (__builtin_add_overflow(*start, *duration, &row.end_ns)) return account_.drop("timestamp out of range");
    const auto plane = planes_.find(event.process);
    if (plane == planes_.end()) return account_.drop("events of an unnamed section");
    if (event.name.empty()) return account_.drop("events without a name");
    const std::string name = unescape(event.name);
    row.name = name;
    read_arguments(event.args, row);
    const auto line = lines_.find(key_of(event.process, event.thread));
    rows_.add({plane->second, line == lines_.end() ? std::string_view() : std::string_view(line->second),
               token_i64(event.thread).value_or(0)},
              row);
  }

  static void read_arguments(std::string_view args, xla::Event& row) {
    for_each_member(args, [&](std::string_view key, std::string_view raw) {
      const std::string_view value = unquoted(raw);
      if (key == "correlation_id") row.correlation_id = token_u64(value).value_or(0);
      if (key == "kernel_details") row.kernel_details = value;
      if (key == "memcpy_details") row.copy_details = value;
      if (key == "memset_details") row.memset = true;
      if (key == "step_num") row.step = token_i64(value);
    });
  }

  void metadata(const TraceEvent& event) {
    account_.drop("process and thread names");
    const bool process = event.name == "process_name";
    if ((!process && event.name != "thread_name") || planes_.size() + lines_.size() >= kMaxPlaces) return;
    for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
      if (key != "name") return;
      if (process)
        planes_.insert_or_assign(std::string(event.process), unescape(unquoted(raw)));
      else
        lines_.insert_or_assign(key_of(event.process, event.thread), unescape(unquoted(raw)));
    });
  }

  static std::pair<std::string, std::string> key_of(std::string_view process, std::string_view thread) {
    return {std::string(process), std::string(thread)};
  }

  trace::Sink& sink_;
  trace::Account& account_;
  xla::Rows rows_;
  std::map<std::string, std::string, std::less<>> planes_;            // by process
  std::map<std::pair<std::string, std::string>, std::string> lines_;  // by process and thread
};

class JaxTraceImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return xla::importer_info("jax_trace", "JAX or TensorFlow profile (trace.json)");
  }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    head = document_text(head);
    if (!head.starts_with('{') || !contains(head, "\"traceEvents\"")) return false;
    return contains(head, "\"process_name\"") && (contains(head, "\"/host:") || contains(head, "\"/device:"));
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result = empty_result("jax_trace");
    Reader reader(sink, result.account);
    AACO_ASSIGN(const DocumentEnd end,
                import_events(source, result, [&](std::span<const TraceEvent> batch) { return reader.events(batch); }));
    reader.finish();
    AACO_TRY(sink.status());
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<JaxTraceImporter>(); }

}  // namespace aaco::importers::jax_trace
