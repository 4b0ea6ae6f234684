#include "estimation/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace aaco::estimation {
namespace {

constexpr double kBitsPerByte = 8;

struct MemoryEnergy {
  std::string_view kind;  // the beginning of its name
  double picojoules_per_bit;
};
// The device's and the interface's part, with rows opened for streams. HBM2 and GDDR5: O'Connor et al., Fine-Grained DRAM, MICRO
// 2017 (3.92 and 14.0 pJ/bit). DDR3 to LPDDR: Ghose et al., What Your DRAM Power Models Are Not Telling You, 2018, and vendors'
// statements of the steps between generations; those are assumptions of about 30 %. The longest name that fits counts.
constexpr std::array kMemories{MemoryEnergy{"HBM", 3.9},    MemoryEnergy{"HBM2", 3.92},  MemoryEnergy{"HBM3", 3.5},
                               MemoryEnergy{"GDDR5", 14.0}, MemoryEnergy{"GDDR6", 7.5},  MemoryEnergy{"DDR4", 18.0},
                               MemoryEnergy{"DDR5", 14.0},  MemoryEnergy{"LPDDR4", 5.5}, MemoryEnergy{"LPDDR5", 4.5},
                               MemoryEnergy{"DRAM", 15.0}};
constexpr double kUnknownMemory = 10.0;

// Of the board's power, what remains for the units when a product of large matrices keeps them busy and memory half busy.
constexpr double kMemoryShareAtPeak = 0.5;
constexpr double kMinComputeShare = 0.2;  // of board power, whatever memory and leakage take
constexpr double kStoppedRatio = 0.01;    // no cap stops the clock for longer
constexpr double kUsualLeakage = 0.15, kUsualIdle = 0.1;

}  // namespace

std::optional<double> joules_per_byte(std::string_view memory_kind) {
  const MemoryEnergy* best = nullptr;
  for (const MemoryEnergy& memory : kMemories)
    if (memory_kind.starts_with(memory.kind) && (best == nullptr || memory.kind.size() > best->kind.size())) best = &memory;
  if (best == nullptr) return std::nullopt;
  return best->picojoules_per_bit * kBitsPerByte * 1e-12;
}

core::Result<PowerModel> power_model(const hardware::Device& device, double ops_per_s) {
  if (!device.power.board_watts)
    return core::fail(core::ErrorCode::unsupported,
                      "the registry has no board power for " + device.id + ", so energy is not predicted",
                      "add power: {board: ...} to the entry " + device.where);
  const double board = device.power.board_watts->value;
  PowerModel model;
  model.idle_watts = device.power.idle_watts ? device.power.idle_watts->value : kUsualIdle * board;
  model.leakage_watts = (device.power.leakage_ratio ? device.power.leakage_ratio->value : kUsualLeakage) * board;
  const auto moved = joules_per_byte(device.memory.kind);
  model.joules_per_byte = moved.value_or(kUnknownMemory * kBitsPerByte * 1e-12);
  const double bandwidth = device.memory.bytes_per_s ? device.memory.bytes_per_s->value : 0;
  const double rest = board - model.static_watts() - kMemoryShareAtPeak * model.joules_per_byte * bandwidth;
  model.joules_per_op = std::max(rest, kMinComputeShare * board) / ops_per_s;
  model.source = fmt::format("board power {:g} W, {} per byte of {}", board, moved ? "published energy" : "an assumed energy",
                             device.memory.kind == "none" ? "its link" : device.memory.kind);
  return model;
}

PowerModel power_model_of(const EnergyParts& measured, const Work& work, double seconds, const PowerModel* specified) {
  PowerModel model;
  if (work.flops > 0) model.joules_per_op = measured.compute_joules / work.flops;
  if (work.bytes > 0) model.joules_per_byte = measured.movement_joules / work.bytes;
  if (specified != nullptr) {
    model.joules_per_byte_on_chip = std::max(0.0, model.joules_per_byte - specified->joules_per_byte);
    model.joules_per_byte -= model.joules_per_byte_on_chip;
  }
  const double watts = seconds > 0 ? measured.static_joules / seconds : 0;
  const double known = specified != nullptr ? specified->static_watts() : 0;
  const double leaking = known > 0 ? specified->leakage_watts / known : 0;
  model.idle_watts = watts * (1 - leaking);
  model.leakage_watts = watts * leaking;
  return model;
}

double voltage_ratio(double clock_ratio) { return kRestVoltage + (1 - kRestVoltage) * clock_ratio; }

double PoweredWork::seconds(double clock_ratio) const {
  const double running = std::max(clock_ratio, kLowestClockRatio);
  return (std::max(compute_s / running, fixed_s) + floor_s) * running / clock_ratio;
}

EnergyParts energy_parts(const PoweredWork& work, const PowerModel& model, double clock_ratio) {
  const double voltage = voltage_ratio(std::max(clock_ratio, kLowestClockRatio));
  return {work.work.flops * model.joules_per_op * voltage * voltage,
          work.work.bytes * (model.joules_per_byte + model.joules_per_byte_on_chip * voltage * voltage),
          (model.idle_watts + model.leakage_watts * voltage) * work.seconds(clock_ratio)};
}

core::Result<double> clock_under_cap(const PoweredWork& work, const PowerModel& model, double watts) {
  const auto power = [&](double ratio) { return energy_parts(work, model, ratio).joules() / work.seconds(ratio); };
  if (power(1) <= watts) return 1.0;
  if (power(kStoppedRatio) > watts)
    return core::fail(
        core::ErrorCode::invalid_argument,
        fmt::format("a power cap of {:g} W cannot be met: even with the clock stopped most of the time this work draws {:.0f} W",
                    watts, power(kStoppedRatio)),
        "use a higher --power-cap");
  double low = kStoppedRatio, high = 1;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (power(middle) <= watts ? low : high) = middle;
  }
  return low;
}

}  // namespace aaco::estimation
