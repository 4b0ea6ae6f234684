#include "cli/output/hardware_output.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/context.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

using hardware::Figure;

std::string tera(std::optional<double> per_second) { return per_second ? fmt::format("{:.1f}", *per_second / 1e12) : "-"; }

struct Unit {
  const char* name;
  double factor;
};
constexpr Unit kMegahertz{"MHz", 1e6}, kGigabytesPerSecond{"GB/s", 1e9}, kWatts{"W", 1}, kNone{"", 1}, kBits{"bit", 1},
    kMegatransfers{"MT/s", 1e6}, kTeraoperations{"T/s", 1e12};

void row(const Context& context, int indent, const std::string& name, const std::string& text) {
  context.print(fmt::format("{:{}}{:<{}} {}\n", "", indent, name, 22 - indent, text));
}

std::string text_of(const Figure& figure, Unit unit) {
  std::string text =
      fmt::format("{:.6g}{}{}  [{}]", figure.value / unit.factor, *unit.name == '\0' ? "" : " ", unit.name, figure.source);
  for (const auto& other : figure.others) text += fmt::format("; {:.6g} [{}]", other.value / unit.factor, other.source);
  return text;
}

std::string bytes_of(const Figure& figure) { return core::format_bytes(figure.value) + "  [" + figure.source + "]"; }

void put(const Context& context, int indent, const char* name, const std::optional<Figure>& figure, Unit unit) {
  if (figure) row(context, indent, name, text_of(*figure, unit));
}

constexpr double kVisibleDifference = 0.002;  // between a published peak and what its clock gives

void print_engine(const Context& context, const hardware::Engine& engine) {
  context.print(fmt::format("\n{} ({})\n", engine.name, to_string(engine.kind)));
  put(context, 2, "units", engine.units, kNone);
  put(context, 2, "clock", engine.clock_hz, kMegahertz);
  if (engine.rows && engine.columns) row(context, 2, "grid", fmt::format("{} x {}", *engine.rows, *engine.columns));
  for (const auto& rate : engine.rates) {
    std::string text = rate.peak_ops_per_s ? text_of(*rate.peak_ops_per_s, kTeraoperations)
                                           : fmt::format("{} T/s  [{}]", tera(engine.ops_per_s(rate.dtype)), rate.source);
    const auto by_clock = engine.ops_per_s(rate.dtype);
    if (rate.peak_ops_per_s && by_clock && std::abs(*by_clock / rate.peak_ops_per_s->value - 1) > kVisibleDifference)
      text += fmt::format("; {} T/s by units and clock, which ls and estimates use", tera(by_clock));
    if (rate.ops_per_clock) text += fmt::format("; {:g} per clock per unit", *rate.ops_per_clock);
    if (rate.sparse_ops_per_s) text += fmt::format("; sparse {:.6g} T/s", *rate.sparse_ops_per_s / 1e12);
    row(context, 2, rate.dtype, text);
  }
}

void print_memory(const Context& context, const hardware::Device& device) {
  context.print("\nmemory\n");
  for (const auto& level : device.memory_levels) {
    std::string text = fmt::format("{} x {}, {}", level.instances, bytes_of(level.bytes), to_string(level.scope));
    if (level.bytes_per_s) text += ", " + text_of(*level.bytes_per_s, kGigabytesPerSecond);
    row(context, 2, level.name, text);
  }
  row(context, 2, "main", device.memory.kind);
  if (device.memory.bytes) row(context, 4, "size", bytes_of(*device.memory.bytes));
  if (device.memory.usable_bytes) row(context, 4, "usable", bytes_of(*device.memory.usable_bytes));
  put(context, 4, "bandwidth", device.memory.bytes_per_s, kGigabytesPerSecond);
  put(context, 4, "bus", device.memory.bus_bits, kBits);
  put(context, 4, "rate", device.memory.transfers_per_s, kMegatransfers);
}

void print_power(const Context& context, const hardware::Power& power) {
  if (!power.board_watts && !power.idle_watts && power.states.empty()) return;
  context.print("\npower\n");
  put(context, 2, "board", power.board_watts, kWatts);
  put(context, 2, "idle", power.idle_watts, kWatts);
  put(context, 2, "leakage", power.leakage_ratio, kNone);
  for (const auto& state : power.states) {
    row(context, 2, "@" + state.name, "");
    put(context, 4, "power", state.watts, kWatts);
    put(context, 4, "clock", state.clock_hz, kMegahertz);
    put(context, 4, "units", state.units, kNone);
    put(context, 4, "bandwidth", state.memory_bytes_per_s, kGigabytesPerSecond);
  }
}

}  // namespace

void print_devices(const Context& context, const std::vector<workflows::DeviceLine>& lines) {
  context.print(fmt::format("{:<32} {:<12} {:>8} {:>8} {:>8} {:>10} {:>10} {:>7}\n", "DEVICE", "KIND", "FP32 T/s", "FP16 T/s",
                            "INT8 T/s", "MEMORY", "GB/S", "WATTS"));
  for (const auto& [device, own] : lines) {
    const auto& memory = device.memory;
    context.print(fmt::format("{:<32} {:<12} {:>8} {:>8} {:>8} {:>10} {:>10} {:>7}{}\n", device.id, to_string(device.kind),
                              tera(device.peak_ops_per_s("float32")), tera(device.peak_ops_per_s("float16")),
                              tera(device.peak_ops_per_s("int8")), memory.bytes ? core::format_bytes(memory.bytes->value) : "-",
                              memory.bytes_per_s ? fmt::format("{:.0f}", memory.bytes_per_s->value / 1e9) : "-",
                              device.power.board_watts ? fmt::format("{:g}", device.power.board_watts->value) : "-",
                              own ? "  user entry" : ""));
  }
  context.print("Dense peaks of the fastest engine; unsupported types run as the next wider type.\n");
}

void print_device(const Context& context, const hardware::Device& device) {
  context.print(fmt::format("{}  {}\n", device.id_with_state(), device.name));
  row(context, 0, "kind",
      std::string(to_string(device.kind)) + ", " + device.vendor + ", " + device.architecture +
          (device.target.empty() ? "" : ", " + device.target));
  for (const std::string& alias : device.aliases) row(context, 0, "alias", alias);
  for (const auto& engine : device.engines) print_engine(context, engine);
  print_memory(context, device);
  print_power(context, device.power);
  if (device.host_link || device.device_link) context.print("\nlinks\n");
  if (device.host_link)
    row(context, 2, "host", device.host_link->kind + ", " + text_of(device.host_link->bytes_per_s, kGigabytesPerSecond));
  if (device.device_link)
    row(context, 2, "device", device.device_link->kind + ", " + text_of(device.device_link->bytes_per_s, kGigabytesPerSecond));
  context.print("\nsources\n");
  for (const auto& source : device.sources) row(context, 2, source.name, source.title);
  for (const std::string& note : device.notes) row(context, 0, "note", note);
  row(context, 0, "entry", device.where.empty() ? "just measured" : device.where);
}

}  // namespace aaco::cli
