#include <fmt/format.h>

#include "core/json.h"
#include "hardware/registry.h"

namespace aaco::hardware {
namespace {

// A text as YAML that means exactly it.
std::string quoted(const std::string& text) { return core::Json(text).dump(-1); }

// {value: 5.3, unit: GB/s, source: datasheet}; `factor`: base units in one `unit`.
std::string figure(const Figure& figure, const char* unit = "", double factor = 1) {
  std::string text = fmt::format("{{value: {}", figure.value / factor);
  if (*unit != '\0') text += fmt::format(", unit: {}", unit);
  text += ", source: " + figure.source;
  std::string others;
  for (const OtherReading& other : figure.others)
    others += fmt::format("{}{{value: {}, source: {}}}", others.empty() ? "" : ", ", other.value / factor, other.source);
  if (!others.empty()) text += ", others: [" + others + "]";
  return text + "}";
}

void put(std::string& out, const char* key, const std::optional<Figure>& value, const char* unit = "", double factor = 1) {
  if (value) out += fmt::format("{}: {}\n", key, figure(*value, unit, factor));
}

std::string list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + quoted(text);
  return "[" + out + "]";
}

std::string rate_text(const EngineRate& rate, const std::string& fallback_source) {
  std::string out = "      - {dtype: " + rate.dtype;
  if (rate.ops_per_clock) out += fmt::format(", ops: {}", *rate.ops_per_clock);
  std::string source = rate.source.empty() ? fallback_source : rate.source;
  if (rate.peak_ops_per_s) {
    const Figure& peak = *rate.peak_ops_per_s;
    out += fmt::format(", peak: {}", peak.value / 1e9);
    if (rate.sparse_ops_per_s) out += fmt::format(", sparse: {}", *rate.sparse_ops_per_s / 1e9);
    out += ", unit: GFLOP/s";
    source = peak.source;
    std::string others;
    for (const OtherReading& other : peak.others)
      others += fmt::format("{}{{value: {}, source: {}}}", others.empty() ? "" : ", ", other.value / 1e9, other.source);
    if (!others.empty()) out += ", others: [" + others + "]";
  }
  return out + ", source: " + source + "}\n";
}

std::string engine_text(const Engine& engine, const Device& device) {
  std::string out = "  - name: " + quoted(engine.name) + "\n    kind: " + std::string(to_string(engine.kind)) + "\n";
  if (engine.units) out += "    units: " + figure(*engine.units) + "\n";
  if (engine.clock_hz) out += "    clock: " + figure(*engine.clock_hz, "MHz", 1e6) + "\n";
  if (engine.rows && engine.columns) out += fmt::format("    grid: [{}, {}]\n", *engine.rows, *engine.columns);
  out += "    rates:\n";
  for (const EngineRate& rate : engine.rates) out += rate_text(rate, device.sources.front().name);
  return out;
}

std::string level_text(const MemoryLevel& level) {
  std::string out = "  - name: " + quoted(level.name) + "\n";
  out += fmt::format("    scope: {}\n    instances: {}\n", to_string(level.scope), level.instances);
  out += "    size: " + figure(level.bytes, "B") + "\n";
  if (level.bytes_per_s) out += "    bandwidth: " + figure(*level.bytes_per_s, "GB/s", 1e9) + "\n";
  if (level.line_bytes) out += fmt::format("    line: {}\n", *level.line_bytes);
  return out;
}

std::string execution_text(const Execution& execution) {
  std::string out;
  const auto add = [&out](const char* key, const std::optional<std::int64_t>& value) {
    if (value) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", key, *value);
  };
  add("wave_lanes", execution.wave_lanes);
  add("waves_per_unit", execution.waves_per_unit);
  add("simds_per_unit", execution.simds_per_unit);
  add("dies", execution.dies);
  add("simd_bits", execution.simd_bits);
  add("threads_per_unit", execution.threads_per_unit);
  add("numa_nodes", execution.numa_nodes);
  return out.empty() ? "" : "execution: {" + out + "}\n";
}

std::string power_text(const Power& power) {
  std::string out;
  put(out, "  board", power.board_watts, "W");
  put(out, "  idle", power.idle_watts, "W");
  put(out, "  leakage", power.leakage_ratio);
  for (const PowerState& state : power.states) {
    if (&state == &power.states.front()) out += "  states:\n";
    out += "    - name: " + quoted(state.name) + "\n      aliases: " + list(state.aliases) + "\n";
    put(out, "      power", state.watts, "W");
    put(out, "      clock", state.clock_hz, "MHz", 1e6);
    put(out, "      units", state.units);
    put(out, "      bandwidth", state.memory_bytes_per_s, "GB/s", 1e9);
  }
  return out.empty() ? "" : "power:\n" + out;
}

std::string links_text(const Device& device) {
  std::string out;
  const auto add = [&out](const char* key, const std::optional<Link>& link) {
    if (link)
      out += fmt::format("  {}: {{kind: {}, bandwidth: {}}}\n", key, quoted(link->kind), figure(link->bytes_per_s, "GB/s", 1e9));
  };
  add("host", device.host_link);
  add("device", device.device_link);
  return out.empty() ? "" : "links:\n" + out;
}

}  // namespace

std::string to_yaml(const Device& device) {
  std::string out =
      "schema: 1\nid: " + device.id + "\nname: " + quoted(device.name) + "\nvendor: " + quoted(device.vendor) + "\n";
  out += "kind: " + std::string(to_string(device.kind)) + "\narchitecture: " + quoted(device.architecture) + "\n";
  if (!device.target.empty()) out += "target: " + quoted(device.target) + "\n";
  out += "aliases: " + list(device.aliases) + "\nsources:\n";
  for (const Source& source : device.sources) out += "  " + source.name + ": " + quoted(source.title) + "\n";
  out += "engines:\n";
  for (const Engine& engine : device.engines) out += engine_text(engine, device);
  if (!device.memory_levels.empty()) out += "memory_levels:\n";
  for (const MemoryLevel& level : device.memory_levels) out += level_text(level);
  out += "memory:\n  kind: " + quoted(device.memory.kind) + "\n";
  put(out, "  size", device.memory.bytes, "B");
  put(out, "  usable", device.memory.usable_bytes, "B");
  put(out, "  bandwidth", device.memory.bytes_per_s, "GB/s", 1e9);
  put(out, "  bus", device.memory.bus_bits, "bit");
  put(out, "  rate", device.memory.transfers_per_s, "MT/s", 1e6);
  out += execution_text(device.execution) + power_text(device.power) + links_text(device);
  if (!device.notes.empty()) out += "notes: " + list(device.notes) + "\n";
  return out;
}

}  // namespace aaco::hardware
