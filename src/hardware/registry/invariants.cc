#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hardware/registry.h"

namespace aaco::hardware {
namespace {

constexpr double kSparseFactor = 2;  // 2:4 structured sparsity, NVIDIA Ampere and AMD CDNA 3 white papers

bool near(double value, double expected, double tolerance) { return std::abs(value - expected) <= tolerance * expected; }

void check_rate(const Engine& engine, const EngineRate& rate, std::vector<Violation>& found) {
  if (!rate.peak_ops_per_s) return;
  const double peak = rate.peak_ops_per_s->value;
  if (engine.units && engine.clock_hz && rate.ops_per_clock) {
    const double product = engine.units->value * *rate.ops_per_clock * engine.clock_hz->value;
    if (!near(peak, product, kPeakTolerance))
      found.push_back(
          {"peak", rate.where,
           fmt::format("{} {}: {:g} units x {:g} operations x {:g} Hz = {:.4g}, but the stated peak is {:.4g} operations/s",
                       engine.name, rate.dtype, engine.units->value, *rate.ops_per_clock, engine.clock_hz->value, product,
                       peak)});
  }
  if (rate.sparse_ops_per_s && !near(*rate.sparse_ops_per_s, kSparseFactor * peak, kPeakTolerance))
    found.push_back({"sparse", rate.where,
                     fmt::format("{} {}: the sparse peak {:.4g} is not twice the dense peak {:.4g}", engine.name, rate.dtype,
                                 *rate.sparse_ops_per_s, peak)});
}

void check_engine(const Engine& engine, std::vector<Violation>& found) {
  for (const EngineRate& rate : engine.rates) check_rate(engine, rate, found);
  if (engine.kind == EngineKind::systolic && engine.rows && engine.columns)
    for (const EngineRate& rate : engine.rates) {
      // A cell does one multiply-add a clock, or two where the type is half as wide as the grid's own.
      if (!rate.ops_per_clock) continue;
      const double cells = *rate.ops_per_clock / (2.0 * static_cast<double>(*engine.rows * *engine.columns));
      if (cells != 1 && cells != 2)
        found.push_back({"peak", rate.where,
                         fmt::format("{} {}: {:g} operations per clock do not match a {} x {} grid", engine.name, rate.dtype,
                                     *rate.ops_per_clock, *engine.rows, *engine.columns)});
    }
  // Narrower floats are never slower than wider ones of the same engine.
  for (const EngineRate& wide : engine.rates)
    for (const EngineRate& narrow : engine.rates) {
      if (!wide.dtype.starts_with("float") || !narrow.dtype.starts_with("float")) continue;
      const auto slow = engine.ops_per_s(wide.dtype);
      const auto fast = engine.ops_per_s(narrow.dtype);
      if (slow && fast && dtype_bits(narrow.dtype) < dtype_bits(wide.dtype) && *fast < *slow * (1 - kPeakTolerance))
        found.push_back({"order", narrow.where, fmt::format("{}: {} is slower than {}", engine.name, narrow.dtype, wide.dtype)});
    }
}

void check_memory(const MainMemory& memory, std::vector<Violation>& found) {
  constexpr double kBitsPerByte = 8;
  if (memory.bytes && memory.usable_bytes && memory.usable_bytes->value > memory.bytes->value)
    found.push_back(
        {"memory", memory.where, fmt::format("{:g} bytes are usable of {:g}", memory.usable_bytes->value, memory.bytes->value)});
  if (!memory.bus_bits || !memory.transfers_per_s || !memory.bytes_per_s) return;
  const double product = memory.bus_bits->value * memory.transfers_per_s->value / kBitsPerByte;
  if (!near(memory.bytes_per_s->value, product, kBandwidthTolerance))
    found.push_back({"bandwidth", memory.where,
                     fmt::format("{:g} bit x {:g} transfers/s = {:.4g} bytes/s, but the stated bandwidth is {:.4g}",
                                 memory.bus_bits->value, memory.transfers_per_s->value, product, memory.bytes_per_s->value)});
}

void check_levels(const Device& device, std::vector<Violation>& found) {
  const MemoryLevel* previous = nullptr;
  for (const MemoryLevel& level : device.memory_levels) {
    if (level.scope == Scope::device && level.instances != 1)
      found.push_back({"order", level.where,
                       level.name + " is shared by the whole device but has " + std::to_string(level.instances) + " instances"});
    if (level.bytes_per_s && device.memory.bytes_per_s && level.bytes_per_s->value < device.memory.bytes_per_s->value)
      found.push_back({"order", level.where, level.name + " is slower than main memory"});
    if (previous != nullptr && level.scope < previous->scope)
      found.push_back(
          {"order", level.where, level.name + " is listed after " + previous->name + ", which is shared by more units"});
    previous = &level;
  }
}

void check_power(const Power& power, const Device& device, std::vector<Violation>& found) {
  if (power.idle_watts && power.board_watts && power.idle_watts->value >= power.board_watts->value)
    found.push_back({"power", power.where, "the idle power is not below the board power"});
  for (const PowerState& state : power.states) {
    const auto above = [](const std::optional<Figure>& figure, std::optional<double> full) {
      return figure && full && figure->value > *full * (1 + kPeakTolerance);
    };
    if (above(state.watts, power.board_watts ? std::optional(power.board_watts->value) : std::nullopt))
      found.push_back({"power", state.where, "the power state " + state.name + " draws more than the board power"});
    if (above(state.clock_hz, device.clock_hz()))
      found.push_back({"power", state.where, "the power state " + state.name + " has a higher clock than full power"});
    if (above(state.units, device.units()))
      found.push_back({"power", state.where, "the power state " + state.name + " has more units than the device"});
    if (device.memory.bytes_per_s && above(state.memory_bytes_per_s, device.memory.bytes_per_s->value))
      found.push_back({"power", state.where, "the power state " + state.name + " has a higher memory bandwidth than full power"});
  }
}

// Every engine that shares units with another shares their number.
void check_units(const Device& device, std::vector<Violation>& found) {
  if (device.kind != DeviceKind::gpu) return;
  std::set<double> counts;
  for (const Engine& engine : device.engines)
    if (engine.units) counts.insert(engine.units->value);
  if (counts.size() > 1)
    found.push_back({"order", device.where, "the engines of a GPU share the same units, but their unit counts differ"});
}

}  // namespace

std::vector<Violation> check_invariants(const Device& device) {
  std::vector<Violation> found;
  for (const Engine& engine : device.engines) check_engine(engine, found);
  check_units(device, found);
  check_levels(device, found);
  check_memory(device.memory, found);
  check_power(device.power, device, found);
  return found;
}

}  // namespace aaco::hardware
