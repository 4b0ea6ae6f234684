#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A device as its makers describe it: specifications only. What was measured on one lies in the calibration registry and never
// here. docs/hardware.md tells what the fields mean and how a device is added.
namespace aaco::hardware {

// What another source says of the same figure, in the figure's own unit.
struct OtherReading {
  double value = 0;
  std::string source;
  auto operator<=>(const OtherReading&) const = default;
};

// A number in base units (Hz, bytes, bytes/s, operations/s, watts) and the name of the source it stands on (Device::sources).
struct Figure {
  double value = 0;
  std::string source;
  std::vector<OtherReading> others;
  auto operator<=>(const Figure&) const = default;
};

enum class DeviceKind { cpu, gpu, accelerator };
std::string_view to_string(DeviceKind kind);

// Vector: any operation on lanes. Matrix: multiplying tiles only (matrix cores, tensor cores, AMX). Systolic: the same as one
// grid.
enum class EngineKind { vector, matrix, systolic };
std::string_view to_string(EngineKind kind);

// One data type on one engine; a multiply-add is two operations.
struct EngineRate {
  std::string dtype;                     // float64 float32 tf32 float16 bfloat16 float8 float6 float4 int8 int4
  std::optional<double> ops_per_clock;   // of one unit, dense
  std::optional<Figure> peak_ops_per_s;  // of all units, dense, as published; empty: nobody published one
  std::optional<double> sparse_ops_per_s;
  std::string source;  // of what stands here; the peak's own where there is one
  std::string where;   // "FILE:LINE", as below
};

struct Engine {
  std::string name;
  EngineKind kind = EngineKind::vector;
  std::optional<Figure> units;  // compute units, streaming multiprocessors, cores, grids; empty: not published
  std::optional<Figure> clock_hz;
  std::optional<std::int64_t> rows, columns;  // of one systolic grid
  std::vector<EngineRate> rates;
  std::string where;

  [[nodiscard]] const EngineRate* rate(std::string_view dtype) const;
  // Units x operations a clock x clock; where one of them is not published, the published peak.
  [[nodiscard]] std::optional<double> ops_per_s(std::string_view dtype) const;
};

enum class Scope { unit, cluster, die, device };  // who shares one instance
std::string_view to_string(Scope scope);

// A store above main memory, nearest first: registers, LDS or shared memory, caches, scratchpads.
struct MemoryLevel {
  std::string name;
  Scope scope = Scope::device;
  Figure bytes;                       // of one instance
  std::int64_t instances = 1;         // on the device
  std::optional<Figure> bytes_per_s;  // all instances together, reading
  std::optional<std::int64_t> line_bytes;
  std::string where;
};

struct MainMemory {
  std::string kind;  // HBM3, GDDR6, DDR5, LPDDR5; "none" where the device has none of its own
  std::optional<Figure> bytes, bytes_per_s, bus_bits, transfers_per_s;
  std::optional<Figure> usable_bytes;  // as the driver shows them: without what inline ECC and firmware keep
  std::string where;
};

// Facts of the execution model that decide wave and tile quantisation; empty where they do not apply.
struct Execution {
  std::optional<std::int64_t> wave_lanes;      // 64, 32
  std::optional<std::int64_t> waves_per_unit;  // resident at most
  std::optional<std::int64_t> simds_per_unit;
  std::optional<std::int64_t> dies;              // XCDs, GCDs; 1 where the chip is one piece
  std::optional<std::int64_t> simd_bits;         // of a CPU's widest vectors
  std::optional<std::int64_t> threads_per_unit;  // SMT
  std::optional<std::int64_t> numa_nodes;
};

// A setting in which a device runs below its full power; what is empty is as at full power.
struct PowerState {
  std::string name;
  std::vector<std::string> aliases;  // of the device in this state
  std::optional<Figure> watts, clock_hz, units, memory_bytes_per_s;
  std::string where;
};

struct Power {
  std::optional<Figure> board_watts;    // TDP, TBP: what the device may draw for long
  std::optional<Figure> idle_watts;     // powered, no work
  std::optional<Figure> leakage_ratio;  // part of board power that flows at full voltage without switching
  std::vector<PowerState> states;
  std::string where;
};

struct Link {
  std::string kind;    // "PCIe 5.0 x16", "NVLink 4", "Infinity Fabric"
  Figure bytes_per_s;  // one direction, all lanes and links together
};

struct Source {
  std::string name, title;
};

struct Device {
  std::string id, name, vendor, architecture, target;  // target: gfx942, sm_90, x86-64 ...
  DeviceKind kind = DeviceKind::gpu;
  std::vector<std::string> aliases;
  std::vector<Source> sources;
  std::vector<Engine> engines;
  std::vector<MemoryLevel> memory_levels;
  MainMemory memory;
  Execution execution;
  Power power;
  std::optional<Link> host_link, device_link;
  std::vector<std::string> notes;
  std::string state;  // the power state this is seen in; empty: full power
  std::string where;  // "FILE:LINE"

  // With "@STATE" behind it where it is seen in a power state: what DeviceRegistry::find() takes.
  [[nodiscard]] std::string id_with_state() const { return state.empty() ? id : id + "@" + state; }
  // Operations a second of the kind of engine that does `dtype` fastest, engines of one kind added up. A type the device does not
  // name runs as the narrowest named type of its family that can hold it (bfloat16 -> float32); empty: none can.
  [[nodiscard]] std::optional<double> peak_ops_per_s(std::string_view dtype) const;
  [[nodiscard]] std::optional<double> peak_ops_per_s(std::string_view dtype, EngineKind engine_kind) const;
  // The type a device computes `dtype` in, see peak_ops_per_s; empty: none.
  [[nodiscard]] std::string computed_as(std::string_view dtype) const;
  // Units of the first engine of that kind, or of the first that knows its units.
  [[nodiscard]] std::optional<double> units() const;
  [[nodiscard]] std::optional<double> clock_hz() const;
  [[nodiscard]] const MemoryLevel* level(std::string_view level_name) const;
  // The largest cache all units share: LLC.
  [[nodiscard]] const MemoryLevel* last_level() const;
};

// The data types a registry entry may name, and their bits.
int dtype_bits(std::string_view dtype);  // 0: not a type of the registry

}  // namespace aaco::hardware
