#include <algorithm>

#include "formats/smi_text.h"
#include "importers/smi.h"
#include "importers/stream/byte_order_mark.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::smi {
namespace {

using core::Json;
using formats::smi_text::Log;
using formats::smi_text::Reading;

constexpr const char* kUnreadLine = "invalid line among the readings";
constexpr std::size_t kLargestBytes = std::size_t{512} << 20;
constexpr std::int64_t kAssumedPeriodNs = 1'000'000'000;

core::Result<std::string> read_all(trace::ByteSource& source) {
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    AACO_ASSIGN(const std::size_t count, source.read(piece));
    if (count == 0) return text;
    if (text.size() + count > kLargestBytes)
      return core::fail(core::ErrorCode::exhausted, source.name() + ": the log is larger than 512 MiB", "split it into parts");
    text.append(piece.data(), count);
  }
}

Json devices_json(const Log& log) {
  Json devices = Json::array();
  for (const auto& [number, facts] : log.devices) {
    if (devices.items().size() >= 1000) break;
    Json device = Json::object({{"id", number}});
    for (const auto& [key, value] : facts) device.set(key, clean_utf8(value));
    devices.push(std::move(device));
  }
  return devices;
}

void add_readings(const Log& log, trace::Sink& sink, ImportResult& result) {
  const trace::NameId source = sink.name(to_string(log.tool));
  std::int64_t unstamped = 0;
  bool several = false;
  const bool stamped = std::any_of(log.readings.begin(), log.readings.end(),
                                   [](const Reading& reading) { return reading.realtime_ns.has_value(); });
  for (const Reading& reading : log.readings) {
    trace::GpuEventRow row;
    if (!reading.realtime_ns && stamped) {  // its place among those that have times is not known
      result.account.drop("no valid timestamp");
      continue;
    }
    if (!reading.realtime_ns) {
      ++unstamped;
      several = several || reading.snapshot > 0;
    }
    row.time_ns = reading.realtime_ns.value_or(reading.snapshot * kAssumedPeriodNs);
    row.device = reading.device;
    row.metric = sink.name(reading.metric);
    row.source = source;
    row.value = reading.value;
    sink.add(row);
    result.account.keep();
  }
  if (unstamped == 0) return;
  result.clock = core::ClockId::trace;
  result.account.notes.push_back(std::to_string(unstamped) + " readings have no timestamp");
  if (several)
    result.warnings.push_back({"import.no_times", "the log has no timestamps: readings are assumed to be one second apart",
                               "enable timestamps: amd-smi monitor --watch 1 --csv, nvidia-smi --query-gpu=timestamp,..."});
}

class SmiImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return {"smi", "amd-smi, rocm-smi or nvidia-smi log (text, JSON, CSV)", "smi"};
  }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    return formats::smi_text::is_smi_text(head);
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    AACO_ASSIGN(const std::string whole, read_all(source));
    std::string_view text = whole;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    auto log = formats::smi_text::decode(text);
    if (!log) return tl::unexpected<core::Error>(std::move(log).error().with(source.name()));
    if (log->readings.empty())
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": " + std::string(to_string(log->tool)) + " output without any supported reading",
                        "supported readings are clock, power, temperature, utilisation and memory: amd-smi metric, amd-smi "
                        "monitor, nvidia-smi -q");
    ImportResult result;
    result.clock = core::ClockId::realtime;
    result.account.source = "smi";
    result.facts = Json::object({{"tool", to_string(log->tool)}, {"layout", log->layout}, {"devices", devices_json(*log)}});
    add_readings(*log, sink, result);
    if (log->not_available > 0) result.account.drop("reported as N/A", log->not_available);
    if (log->not_understood > 0) result.account.drop("unknown value or unit", log->not_understood);
    if (log->unread_lines > 0) result.account.drop(kUnreadLine, log->unread_lines);
    if (log->other > 0) result.account.notes.push_back(std::to_string(log->other) + " other fields were skipped");
    AACO_TRY(sink.status());
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<SmiImporter>(); }

}  // namespace aaco::importers::smi
