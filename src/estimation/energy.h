#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "estimation/energy_estimate.h"
#include "estimation/kernel.h"
#include "estimation/mapping.h"
#include "hardware/device.h"

// Energy of work on a device: computing, moving data, and what flows whether it works or not; and what a power cap does to the
// clock. docs/estimation.md derives the formulas.
namespace aaco::estimation {

struct PowerModel {
  double joules_per_op = 0;            // of the type on its engine, at full clock and voltage
  double joules_per_byte = 0;          // of main memory, which keeps its speed and voltage
  double joules_per_byte_on_chip = 0;  // on the way through caches, at full voltage; specifications have it in joules_per_op
  double idle_watts = 0;               // flows whatever the clock
  double leakage_watts = 0;            // at full voltage; follows the voltage
  std::string source;                  // what it rests on, one line
  [[nodiscard]] double static_watts() const { return idle_watts + leakage_watts; }
};

// By specifications. Empty-handed where the entry has no board power: unsupported. `ops_per_s`: of the engine and type.
core::Result<PowerModel> power_model(const hardware::Device& device, double ops_per_s);

// How voltage follows the clock: v(r) = kRestVoltage + (1 - kRestVoltage) r of the full voltage at r of the full clock (the usual
// range of DVFS tables; switching energy goes with its square, leakage with it).
inline constexpr double kRestVoltage = 0.6;
double voltage_ratio(double clock_ratio);

// A model under which `work`, in `seconds` at full clock, takes `measured`, as a fit has it. What of it follows the voltage is as
// in `specified`: the same part of static power leaks, and what a byte takes beyond main memory's own energy is on the chip.
// Null: all of static power idles, and a byte takes all of its energy in main memory.
PowerModel power_model_of(const EnergyParts& measured, const Work& work, double seconds, const PowerModel* specified);

// The lowest clock that a device runs at, as a part of the full one.
inline constexpr double kLowestClockRatio = 0.2;

// A piece of work at full clock.
struct PoweredWork {
  Work work;
  double compute_s = 0;  // slows down with the clock
  double fixed_s = 0;    // memory time: does not
  double floor_s = 0;    // added to the longer of both
  [[nodiscard]] double seconds(double clock_ratio) const;
};

EnergyParts energy_parts(const PoweredWork& work, const PowerModel& model, double clock_ratio);

// The highest clock, as a part of the full one, at which the work's mean power stays within `watts`; 1: the cap does not bind.
// Below kLowestClockRatio voltage falls no further: the clock stops for a part of the time, and memory waits with it. Fails with
// invalid_argument where what flows then is still too much.
core::Result<double> clock_under_cap(const PoweredWork& work, const PowerModel& model, double watts);

// Part of main memory's energy a byte that one from a cache on the chip takes (an assumption; Horowitz, ISSCC 2014, has a tenth
// to a third by the cache's size).
inline constexpr double kCacheEnergyRatio = 0.2;

// Joules that moving a byte to or from a kind of memory takes (HBM3, GDDR6 ...); empty: not known.
std::optional<double> joules_per_byte(std::string_view memory_kind);

}  // namespace aaco::estimation
