#include <algorithm>
#include <array>

#include "core/files.h"
#include "core/strings.h"
#include "hardware/registry.h"
#include "hardware/registry/quantity.h"

// The schema of data/hardware/**.yaml; docs/hardware.md describes it for people.
namespace aaco::hardware {
namespace {

using core::YamlNode;
using registry::Quantity;
using registry::read_figure;
using registry::read_optional_figure;
using Sources = std::vector<Source>;

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kMaxInstances = 1 << 20;
constexpr double kMaxOps = 1e9;  // a clock, of one unit: far above any matrix unit's

template <class Enum, std::size_t N>
core::Result<Enum> read_enum(const YamlNode& parent, std::string_view key, const std::array<Enum, N>& values) {
  AACO_ASSIGN(const std::string text, parent.require_string(key));
  std::vector<std::string_view> names;
  for (const Enum value : values) {
    if (to_string(value) == text) return value;
    names.push_back(to_string(value));
  }
  return parent.find(key)->error("invalid " + std::string(key) + " '" + text + "'", "use one of: " + core::join(names, ", "));
}

core::Result<std::optional<std::int64_t>> read_count(const YamlNode& parent, std::string_view key) {
  AACO_ASSIGN(const std::optional<std::int64_t> value, parent.optional_i64(key));
  if (value && (*value < 1 || *value > kMaxInstances))
    return parent.find(key)->error(std::string(key) + " must be between 1 and " + std::to_string(kMaxInstances));
  return value;
}

core::Result<std::vector<std::string>> read_strings(const YamlNode& parent, std::string_view key) {
  const YamlNode* node = parent.find(key);
  if (node == nullptr) return std::vector<std::string>();
  return node->as_strings();
}

core::Result<std::vector<YamlNode>> read_list(const YamlNode& parent, std::string_view key) {
  const YamlNode* node = parent.find(key);
  if (node == nullptr) return std::vector<YamlNode>();
  if (!node->is_sequence()) return node->error(std::string(key) + " must be a list");
  for (const YamlNode& item : node->items())
    if (!item.is_mapping()) return item.error("each item of " + std::string(key) + " must be a mapping");
  return node->items();
}

core::Result<EngineRate> read_rate(const YamlNode& node, const Sources& sources) {
  AACO_TRY(node.only_keys({"dtype", "ops", "peak", "sparse", "unit", "source", "others"}));
  EngineRate rate;
  rate.where = node.where();
  AACO_ASSIGN(rate.dtype, node.require_string("dtype"));
  if (dtype_bits(rate.dtype) == 0)
    return node.find("dtype")->error("unknown data type '" + rate.dtype + "'",
                                     "use float64 float32 tf32 float16 bfloat16 float8 float6 float4 int32 int8 int4");
  AACO_ASSIGN(rate.ops_per_clock, node.optional_f64("ops"));
  if (rate.ops_per_clock && !(*rate.ops_per_clock > 0 && *rate.ops_per_clock <= kMaxOps))
    return node.find("ops")->error("ops (per clock per unit) must be above 0 and at most 1e9");
  AACO_ASSIGN(const std::string source, node.require_string("source"));
  AACO_TRY(registry::check_source(*node.find("source"), source, sources));
  rate.source = source;
  const YamlNode* peak = node.find("peak");
  if (peak == nullptr) {
    if (!rate.ops_per_clock) return node.error("a rate must have ops (per clock per unit), peak, or both");
    if (node.find("sparse") != nullptr || node.find("unit") != nullptr) return node.error("sparse and unit require a peak");
    return rate;
  }
  AACO_ASSIGN(const YamlNode* unit, node.require("unit"));
  AACO_ASSIGN(const double factor, registry::factor_of(Quantity::ops_per_s, *unit));
  Figure figure;
  figure.source = source;
  AACO_ASSIGN(const double value, peak->as_f64());
  AACO_TRY(registry::check_value(*peak, value, factor, Quantity::ops_per_s));
  figure.value = value * factor;
  AACO_ASSIGN(const std::optional<double> sparse, node.optional_f64("sparse"));
  if (sparse) {
    AACO_TRY(registry::check_value(*node.find("sparse"), *sparse, factor, Quantity::ops_per_s));
    rate.sparse_ops_per_s = *sparse * factor;
  }
  AACO_ASSIGN(const std::vector<YamlNode> others, read_list(node, "others"));
  for (const YamlNode& item : others) {
    AACO_TRY(item.only_keys({"value", "source"}));
    OtherReading other;
    AACO_ASSIGN(const double reading, item.require_f64("value"));
    AACO_TRY(registry::check_value(*item.find("value"), reading, factor, Quantity::ops_per_s));
    other.value = reading * factor;
    AACO_ASSIGN(other.source, item.require_string("source"));
    AACO_TRY(registry::check_source(item, other.source, sources));
    figure.others.push_back(std::move(other));
  }
  rate.peak_ops_per_s = std::move(figure);
  return rate;
}

core::Result<Engine> read_engine(const YamlNode& node, const Sources& sources) {
  AACO_TRY(node.only_keys({"name", "kind", "units", "clock", "grid", "rates"}));
  Engine engine;
  engine.where = node.where();
  AACO_ASSIGN(engine.name, node.require_string("name"));
  AACO_ASSIGN(engine.kind, read_enum(node, "kind", std::array{EngineKind::vector, EngineKind::matrix, EngineKind::systolic}));
  AACO_ASSIGN(engine.units, read_optional_figure(node, "units", Quantity::count, sources));
  AACO_ASSIGN(engine.clock_hz, read_optional_figure(node, "clock", Quantity::frequency, sources));
  if (const YamlNode* grid = node.find("grid")) {
    AACO_ASSIGN(const std::vector<double> sides, grid->as_f64s());
    if (sides.size() != 2 || !(sides[0] >= 1 && sides[0] <= 65536 && sides[1] >= 1 && sides[1] <= 65536))
      return grid->error("grid must be [rows, columns]", "example: [128, 128]");
    engine.rows = static_cast<std::int64_t>(sides[0]);
    engine.columns = static_cast<std::int64_t>(sides[1]);
  }
  AACO_ASSIGN(const std::vector<YamlNode> rates, read_list(node, "rates"));
  if (rates.empty()) return node.error("the engine '" + engine.name + "' has no rates");
  for (const YamlNode& item : rates) {
    AACO_ASSIGN(EngineRate rate, read_rate(item, sources));
    if (engine.rate(rate.dtype) != nullptr) return item.error("duplicate data type " + rate.dtype);
    engine.rates.push_back(std::move(rate));
  }
  return engine;
}

core::Result<MemoryLevel> read_level(const YamlNode& node, const Sources& sources) {
  AACO_TRY(node.only_keys({"name", "scope", "instances", "size", "bandwidth", "line"}));
  MemoryLevel level;
  level.where = node.where();
  AACO_ASSIGN(level.name, node.require_string("name"));
  AACO_ASSIGN(level.scope, read_enum(node, "scope", std::array{Scope::unit, Scope::cluster, Scope::die, Scope::device}));
  AACO_ASSIGN(const auto instances, read_count(node, "instances"));
  level.instances = instances.value_or(1);
  AACO_ASSIGN(const YamlNode* size, node.require("size"));
  AACO_ASSIGN(level.bytes, read_figure(*size, Quantity::bytes, sources));
  AACO_ASSIGN(level.bytes_per_s, read_optional_figure(node, "bandwidth", Quantity::bytes_per_s, sources));
  AACO_ASSIGN(level.line_bytes, read_count(node, "line"));
  return level;
}

core::Result<MainMemory> read_memory(const YamlNode& node, const Sources& sources) {
  if (!node.is_mapping()) return node.error("memory must be a mapping");
  AACO_TRY(node.only_keys({"kind", "size", "usable", "bandwidth", "bus", "rate"}));
  MainMemory memory;
  memory.where = node.where();
  AACO_ASSIGN(memory.kind, node.require_string("kind"));
  AACO_ASSIGN(memory.bytes, read_optional_figure(node, "size", Quantity::bytes, sources));
  AACO_ASSIGN(memory.usable_bytes, read_optional_figure(node, "usable", Quantity::bytes, sources));
  AACO_ASSIGN(memory.bytes_per_s, read_optional_figure(node, "bandwidth", Quantity::bytes_per_s, sources));
  AACO_ASSIGN(memory.bus_bits, read_optional_figure(node, "bus", Quantity::bits, sources));
  AACO_ASSIGN(memory.transfers_per_s, read_optional_figure(node, "rate", Quantity::transfers_per_s, sources));
  return memory;
}

core::Result<Execution> read_execution(const YamlNode& node) {
  if (!node.is_mapping()) return node.error("execution must be a mapping");
  AACO_TRY(
      node.only_keys({"wave_lanes", "waves_per_unit", "simds_per_unit", "dies", "simd_bits", "threads_per_unit", "numa_nodes"}));
  Execution execution;
  AACO_ASSIGN(execution.wave_lanes, read_count(node, "wave_lanes"));
  AACO_ASSIGN(execution.waves_per_unit, read_count(node, "waves_per_unit"));
  AACO_ASSIGN(execution.simds_per_unit, read_count(node, "simds_per_unit"));
  AACO_ASSIGN(execution.dies, read_count(node, "dies"));
  AACO_ASSIGN(execution.simd_bits, read_count(node, "simd_bits"));
  AACO_ASSIGN(execution.threads_per_unit, read_count(node, "threads_per_unit"));
  AACO_ASSIGN(execution.numa_nodes, read_count(node, "numa_nodes"));
  return execution;
}

core::Result<Power> read_power(const YamlNode& node, const Sources& sources) {
  if (!node.is_mapping()) return node.error("power must be a mapping");
  AACO_TRY(node.only_keys({"board", "idle", "leakage", "states"}));
  Power power;
  power.where = node.where();
  AACO_ASSIGN(power.board_watts, read_optional_figure(node, "board", Quantity::power, sources));
  AACO_ASSIGN(power.idle_watts, read_optional_figure(node, "idle", Quantity::power, sources));
  AACO_ASSIGN(power.leakage_ratio, read_optional_figure(node, "leakage", Quantity::ratio, sources));
  AACO_ASSIGN(const std::vector<YamlNode> states, read_list(node, "states"));
  for (const YamlNode& item : states) {
    AACO_TRY(item.only_keys({"name", "aliases", "power", "clock", "units", "bandwidth"}));
    PowerState state;
    state.where = item.where();
    AACO_ASSIGN(state.name, item.require_string("name"));
    AACO_ASSIGN(state.aliases, read_strings(item, "aliases"));
    AACO_ASSIGN(state.watts, read_optional_figure(item, "power", Quantity::power, sources));
    AACO_ASSIGN(state.clock_hz, read_optional_figure(item, "clock", Quantity::frequency, sources));
    AACO_ASSIGN(state.units, read_optional_figure(item, "units", Quantity::count, sources));
    AACO_ASSIGN(state.memory_bytes_per_s, read_optional_figure(item, "bandwidth", Quantity::bytes_per_s, sources));
    power.states.push_back(std::move(state));
  }
  return power;
}

core::Result<std::optional<Link>> read_link(const YamlNode& links, std::string_view key, const Sources& sources) {
  const YamlNode* node = links.find(key);
  if (node == nullptr) return std::optional<Link>();
  if (!node->is_mapping()) return node->error("a link must be a mapping");
  AACO_TRY(node->only_keys({"kind", "bandwidth"}));
  Link link;
  AACO_ASSIGN(link.kind, node->require_string("kind"));
  AACO_ASSIGN(const YamlNode* bandwidth, node->require("bandwidth"));
  AACO_ASSIGN(link.bytes_per_s, read_figure(*bandwidth, Quantity::bytes_per_s, sources));
  return std::optional(std::move(link));
}

core::Status check_id(const YamlNode& node, const std::string& id) {
  const bool plain = !id.empty() && id.size() <= 80 && std::all_of(id.begin(), id.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  });
  if (plain) return {};
  return node.error("'" + id + "' is not a valid device id",
                    "a device id is vendor_model_form_memory in lower-case letters, digits and _");
}

core::Status read_identity(const YamlNode& root, Device& device) {
  AACO_ASSIGN(device.id, root.require_string("id"));
  AACO_TRY(check_id(*root.find("id"), device.id));
  AACO_ASSIGN(device.name, root.require_string("name"));
  AACO_ASSIGN(device.vendor, root.require_string("vendor"));
  AACO_ASSIGN(device.architecture, root.require_string("architecture"));
  AACO_ASSIGN(const auto target, root.optional_string("target"));
  device.target = target.value_or("");
  AACO_ASSIGN(device.kind, read_enum(root, "kind", std::array{DeviceKind::cpu, DeviceKind::gpu, DeviceKind::accelerator}));
  AACO_ASSIGN(device.aliases, read_strings(root, "aliases"));
  AACO_ASSIGN(device.notes, read_strings(root, "notes"));
  AACO_ASSIGN(const YamlNode* sources, root.require("sources"));
  if (!sources->is_mapping() || sources->entries().empty())
    return sources->error("sources must map a short name to a title", "example: {datasheet: \"X data sheet, 2024\"}");
  for (const auto& [name, title] : sources->entries()) {
    AACO_ASSIGN(std::string text, title.as_string());
    device.sources.push_back({name.scalar(), std::move(text)});
  }
  return {};
}

core::Result<Device> read_device(const YamlNode& root) {
  if (!root.is_mapping()) return root.error("a device must be a mapping", "see docs/hardware.md");
  AACO_TRY(root.only_keys({"schema", "id", "name", "vendor", "kind", "architecture", "target", "aliases", "sources", "engines",
                           "memory_levels", "memory", "execution", "power", "links", "notes"}));
  AACO_ASSIGN(const std::int64_t schema, root.require_i64("schema"));
  if (schema != kSchema)
    return root.find("schema")->error("unsupported schema " + std::to_string(schema), "this program supports schema 1");
  Device device;
  device.where = root.where();
  AACO_TRY(read_identity(root, device));
  AACO_ASSIGN(const std::vector<YamlNode> engines, read_list(root, "engines"));
  if (engines.empty()) return root.error("the device has no engines");
  for (const YamlNode& item : engines) {
    AACO_ASSIGN(Engine engine, read_engine(item, device.sources));
    device.engines.push_back(std::move(engine));
  }
  AACO_ASSIGN(const std::vector<YamlNode> levels, read_list(root, "memory_levels"));
  for (const YamlNode& item : levels) {
    AACO_ASSIGN(MemoryLevel level, read_level(item, device.sources));
    device.memory_levels.push_back(std::move(level));
  }
  AACO_ASSIGN(const YamlNode* memory, root.require("memory"));
  AACO_ASSIGN(device.memory, read_memory(*memory, device.sources));
  if (const YamlNode* execution = root.find("execution")) {
    AACO_ASSIGN(device.execution, read_execution(*execution));
  }
  if (const YamlNode* power = root.find("power")) {
    AACO_ASSIGN(device.power, read_power(*power, device.sources));
  }
  if (const YamlNode* links = root.find("links")) {
    if (!links->is_mapping()) return links->error("links must be a mapping with the keys host and device");
    AACO_TRY(links->only_keys({"host", "device"}));
    AACO_ASSIGN(device.host_link, read_link(*links, "host", device.sources));
    AACO_ASSIGN(device.device_link, read_link(*links, "device", device.sources));
  }
  return device;
}

}  // namespace

core::Result<Device> parse_device(std::string_view text, const std::string& name) {
  AACO_ASSIGN(const YamlNode root, YamlNode::parse(text, name));
  return read_device(root);
}

core::Result<Device> load_device(const std::string& path) {
  AACO_ASSIGN(const YamlNode root, YamlNode::load(path));
  return read_device(root);
}

}  // namespace aaco::hardware
