#include <algorithm>
#include <array>

#include "importers/rocm_tables.h"
#include "importers/rocprof.h"
#include "importers/rocprof/json_reader.h"
#include "importers/stream/damage.h"

namespace aaco::importers::rocprof {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// rocprof 1 wrote a document without its beginning ("{ "traceEvents":[{}") where nothing was traced: the bytes then start with
// the comma behind it. This source puts the beginning back.
class HeadedSource final : public trace::ByteSource {
 public:
  explicit HeadedSource(trace::ByteSource& inner) : inner_(inner) {}
  core::Result<std::size_t> read(std::span<char> into) override {
    AACO_ASSIGN(const std::size_t count, inner_.read(into));
    const std::string_view text(into.data(), count);
    const auto first = looked_ ? std::string_view::npos : text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return count;
    looked_ = true;
    headless_ = text[first] == ',';
    if (headless_) into[first] = '[';
    return count;
  }
  [[nodiscard]] const std::string& name() const override { return inner_.name(); }
  [[nodiscard]] std::string path() const override { return inner_.path(); }
  [[nodiscard]] std::string damage() const override { return inner_.damage(); }
  [[nodiscard]] bool headless() const { return headless_; }

 private:
  trace::ByteSource& inner_;
  bool looked_ = false;
  bool headless_ = false;
};

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

class JsonImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return rocm_info("rocprof", "rocprof trace (JSON)"); }

  // By what only rocprof writes: a sort index beside a section's name, or the ns of a dispatch among the arguments.
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    const auto first = head.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return false;
    head.remove_prefix(first);
    constexpr std::string_view kSection = R"("name":"process_name","sort_index":)";
    if (head.front() == ',') return head.starts_with(R"(,{"args":{"name":)") && contains(head, kSection);
    if (head.front() != '{' || !contains(head, "\"traceEvents\"")) return false;
    return contains(head, kSection) || (contains(head, "\"BeginNs\"") && contains(head, "\"EndNs\""));
  }

  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result;
    result.account.source = "rocprof";
    result.facts = core::Json::object();
    HeadedSource headed(source);
    JsonReader reader(sink, result.account);
    AACO_ASSIGN(const DocumentEnd end,
                read_trace_events(headed, [&](std::span<const TraceEvent> batch) { return reader.events(batch); }));
    reader.finish(result);
    if (end.malformed > 0) result.account.drop("malformed event", end.malformed);
    if (headed.headless() && result.account.kept == 0)
      return core::fail(
          core::ErrorCode::invalid_input,
          source.name() +
              ": the JSON file has neither its beginning nor any events; rocprof writes such files when nothing was traced",
          "import the results.csv from the same folder, or trace again with --hip-trace or --hsa-trace");
    if (!end.has_events) return core::fail(core::ErrorCode::invalid_input, source.name() + ": JSON document without traceEvents");
    if (end.events == 0 && !end.complete)
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": no complete event could be read (" + end.trouble + ")");
    read_system(end, result.facts);
    if (!end.complete || headed.headless())
      report_cut(result, source.name(), (headed.headless() ? "the beginning is missing" : end.trouble) + after_bytes(end.bytes),
                 std::to_string(end.events) + " complete events",
                 "copy the complete file, or import the results.csv from the same folder");
    report_trailing(result, source.name(), end.trailing);
    AACO_TRY(sink.status());
    return result;
  }

 private:
  // "otherData" is what rocminfo printed, as texts.
  static void read_system(const DocumentEnd& end, core::Json& facts) {
    constexpr auto kKept = std::to_array<std::string_view>({"CMD", "HSASystemAttributes.RuntimeVersion"});
    for (const auto& [key, text] : end.members) {
      if (key != "otherData") continue;
      const auto document = core::Json::parse(text);
      if (!document) continue;
      core::Json system = core::Json::object();
      for (const std::string_view name : kKept) system.set_if(name, (*document)[name]);
      core::Json devices = core::Json::array();
      for (int agent = 1; agent <= 64; ++agent) {
        const std::string prefix = "Agent" + std::to_string(agent) + ".";
        const auto field = [&](const char* name) -> const core::Json& { return (*document)[prefix + name]; };
        if (field("DeviceType").text() != "GPU") continue;
        core::Json device = core::Json::object();
        device.set_if("name", field("MarketingName"));
        device.set_if("architecture", field("Name"));
        device.set_if("compute_unit_count", field("ComputeUnit"));
        devices.push(std::move(device));
      }
      if (!system.members().empty()) facts.set("system", std::move(system));
      if (!devices.items().empty()) facts.set("devices", std::move(devices));
    }
  }
};

}  // namespace

std::unique_ptr<Importer> make_json_importer() { return std::make_unique<JsonImporter>(); }

}  // namespace aaco::importers::rocprof
