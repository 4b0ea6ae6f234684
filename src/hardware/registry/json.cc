#include "hardware/registry.h"

namespace aaco::hardware {
namespace {

using core::Json;

Json with_unit(const Figure& figure, const char* unit) {
  Json result = Json::object({{"value", figure.value}});
  if (*unit != '\0') result.set("unit", unit);
  result.set("source", figure.source);
  if (!figure.others.empty()) {
    Json others = Json::array();
    for (const OtherReading& other : figure.others) others.push(Json::object({{"value", other.value}, {"source", other.source}}));
    result.set("others", std::move(others));
  }
  return result;
}

void add(Json& object, const char* key, const std::optional<Figure>& figure, const char* unit) {
  if (figure) object.set(key, with_unit(*figure, unit));
}

Json engine_json(const Engine& engine) {
  Json result = Json::object({{"name", engine.name}, {"kind", to_string(engine.kind)}});
  add(result, "units", engine.units, "");
  add(result, "clock", engine.clock_hz, "Hz");
  if (engine.rows && engine.columns) result.set("grid", Json::array({*engine.rows, *engine.columns}));
  Json rates = Json::array();
  for (const EngineRate& rate : engine.rates) {
    Json one = Json::object({{"dtype", rate.dtype}});
    one.set_if("ops_per_clock", rate.ops_per_clock);
    if (!rate.source.empty()) one.set("source", rate.source);
    add(one, "published_peak", rate.peak_ops_per_s, "operations/s");
    one.set_if("sparse_ops_per_s", rate.sparse_ops_per_s);
    one.set_if("ops_per_s", engine.ops_per_s(rate.dtype));
    rates.push(std::move(one));
  }
  result.set("rates", std::move(rates));
  return result;
}

Json memory_json(const Device& device) {
  Json result = Json::object({{"kind", device.memory.kind}});
  add(result, "size", device.memory.bytes, "bytes");
  add(result, "usable", device.memory.usable_bytes, "bytes");
  add(result, "bandwidth", device.memory.bytes_per_s, "bytes/s");
  add(result, "bus", device.memory.bus_bits, "bit");
  add(result, "rate", device.memory.transfers_per_s, "transfers/s");
  return result;
}

Json levels_json(const std::vector<MemoryLevel>& levels) {
  Json result = Json::array();
  for (const MemoryLevel& level : levels) {
    Json one = Json::object({{"name", level.name}, {"scope", to_string(level.scope)}, {"instances", level.instances}});
    one.set("size", with_unit(level.bytes, "bytes"));
    add(one, "bandwidth", level.bytes_per_s, "bytes/s");
    one.set_if("line_bytes", level.line_bytes);
    result.push(std::move(one));
  }
  return result;
}

Json execution_json(const Execution& execution) {
  Json result = Json::object();
  result.set_if("wave_lanes", execution.wave_lanes)
      .set_if("waves_per_unit", execution.waves_per_unit)
      .set_if("simds_per_unit", execution.simds_per_unit)
      .set_if("dies", execution.dies)
      .set_if("simd_bits", execution.simd_bits)
      .set_if("threads_per_unit", execution.threads_per_unit)
      .set_if("numa_nodes", execution.numa_nodes);
  return result;
}

Json power_json(const Power& power) {
  Json result = Json::object();
  add(result, "board", power.board_watts, "W");
  add(result, "idle", power.idle_watts, "W");
  add(result, "leakage", power.leakage_ratio, "");
  Json states = Json::array();
  for (const PowerState& state : power.states) {
    Json one = Json::object({{"name", state.name}, {"aliases", Json::texts(state.aliases)}});
    add(one, "power", state.watts, "W");
    add(one, "clock", state.clock_hz, "Hz");
    add(one, "units", state.units, "");
    add(one, "bandwidth", state.memory_bytes_per_s, "bytes/s");
    states.push(std::move(one));
  }
  result.set("states", std::move(states));
  return result;
}

}  // namespace

Json to_json(const Device& device) {
  Json sources = Json::object();
  for (const Source& source : device.sources) sources.set(source.name, source.title);
  Json engines = Json::array();
  for (const Engine& engine : device.engines) engines.push(engine_json(engine));
  Json result = Json::object({{"id", device.id},
                              {"name", device.name},
                              {"vendor", device.vendor},
                              {"kind", to_string(device.kind)},
                              {"architecture", device.architecture},
                              {"target", device.target},
                              {"aliases", Json::texts(device.aliases)},
                              {"sources", std::move(sources)},
                              {"engines", std::move(engines)},
                              {"memory_levels", levels_json(device.memory_levels)},
                              {"memory", memory_json(device)},
                              {"execution", execution_json(device.execution)},
                              {"power", power_json(device.power)}});
  if (!device.state.empty()) result.set("state", device.state);
  const auto link = [&](const char* key, const std::optional<Link>& value) {
    if (value) result.set(key, Json::object({{"kind", value->kind}, {"bandwidth", with_unit(value->bytes_per_s, "bytes/s")}}));
  };
  link("host_link", device.host_link);
  link("device_link", device.device_link);
  result.set("notes", Json::texts(device.notes));
  result.set("where", device.where);
  return result;
}

}  // namespace aaco::hardware
