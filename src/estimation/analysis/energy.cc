#include "estimation/analysis/energy.h"

#include <algorithm>
#include <cmath>

#include "estimation/analysis/footing.h"

namespace aaco::estimation {
namespace {

// How far energies by specifications may be off, either way (docs/results.md).
constexpr double kEnergyFactor = 2.0;
constexpr const char* kSpecification = "specification";
constexpr const char* kAtCappedClock = " at the capped clock by specification";

// How the node's time divides into what follows the clock and what does not: whatever its level, as the roofline has it.
PoweredWork powered_work(const NodeEstimate& node) {
  PoweredWork powered{node.work, 0, 0, 0};
  const Explanation& why = node.latency.explanation;
  const double body = std::max(0.0, node.latency.seconds - why.floor_s);
  const double longer = std::max(why.compute_s / node.mapping.compute_ratio(), why.memory_s);
  powered.compute_s = longer > 0 ? body * why.compute_s / node.mapping.compute_ratio() / longer : 0;
  powered.fixed_s = longer > 0 ? body * why.memory_s / longer : 0;
  powered.floor_s = node.latency.seconds - body;
  return powered;
}

// A fit never leaves what the board can draw: less than idle, where that is published, more than its limit.
void keep_within_the_board(const hardware::Power& power, FittedEnergy& fitted) {
  EnergyEstimate& energy = fitted.energy;
  const double watts = energy.joules() / fitted.seconds;
  double allowed = watts;
  if (power.board_watts) allowed = std::min(allowed, power.board_watts->value);
  if (power.idle_watts) allowed = std::max(allowed, power.idle_watts->value);
  const double factor = allowed / watts;
  energy.parts.compute_joules *= factor;
  energy.parts.movement_joules *= factor;
  energy.parts.static_joules *= factor;
  energy.lower = std::min(energy.lower, energy.joules());
  energy.upper = std::max(energy.upper, energy.joules());
}

EnergyEstimate specified_energy(const EnergyParts& parts) {
  return {parts, parts.joules() / kEnergyFactor, parts.joules() * kEnergyFactor, Level::theoretical, kSpecification};
}

// `parts`: under the conditions; the fit's interval, in proportion.
EnergyEstimate fitted_energy(const EnergyEstimate& fit, const EnergyParts& parts, double clock_ratio) {
  EnergyEstimate out{parts, 0, 0, fit.level, fit.source};
  double below = std::log(fit.joules() / fit.lower), above = std::log(fit.upper / fit.joules());
  if (clock_ratio < 1) {
    below = std::hypot(below, std::log(clock_ratio));
    above = std::hypot(above, std::log(clock_ratio));
    out.level = Level::theoretical;
    out.source += kAtCappedClock;
  }
  out.lower = out.joules() * std::exp(-below);
  out.upper = out.joules() * std::exp(above);
  return out;
}

std::optional<double> limit_of(const hardware::Device& device, const Conditions& conditions) {
  if (!device.power.board_watts) return conditions.power_cap_watts;
  const double board = device.power.board_watts->value;
  return std::min(board, conditions.power_cap_watts.value_or(board));
}

// An error of the time moves the energy in proportion at most, so the mean power is off by no more than the energy.
void add_mean_power(std::optional<double> limit_watts, GraphEstimate& out) {
  const double seconds = out.latency.value * 1e-9;
  if (!(seconds > 0)) return;
  const Estimate& energy = *out.energy;
  const double watts = energy.value / seconds;
  double upper = energy.upper / seconds;
  if (limit_watts) upper = std::max(watts, std::min(upper, *limit_watts));
  out.power = Estimate{watts, "W", energy.level, energy.source, energy.lower / seconds, upper};
}

// A cap that binds. Neither that it does nor by how much was measured: the level says so, and the bound takes in that the node
// does not slow down, or twice as much.
void slow_down(double slower, NodeEstimate& node) {
  if (!(slower > 1)) return;
  LatencyEstimate& latency = node.latency;
  const double below = std::hypot(std::log(latency.seconds / latency.lower), std::log(slower));
  const double above = std::hypot(std::log(latency.upper / latency.seconds), std::log(slower));
  latency.seconds *= slower;
  latency.lower = latency.seconds * std::exp(-below);
  latency.upper = latency.seconds * std::exp(above);
  if (latency.level != Level::theoretical) latency.source += kAtCappedClock;
  latency.level = Level::theoretical;
  node.theoretical_seconds *= slower;
}

}  // namespace

core::Status add_node_energy(const hardware::Device& device, const Conditions& conditions, std::optional<FittedEnergy> fitted,
                             std::optional<double> link_bytes, NodeEstimate& node) {
  auto specified = power_model(device, node.mapping.ops_per_s);
  if (!specified && conditions.power_cap_watts) return tl::unexpected<core::Error>(std::move(specified).error());
  if (!specified && !fitted) return {};
  PoweredWork powered = powered_work(node);
  PowerModel model;
  if (fitted) {
    keep_within_the_board(device.power, *fitted);
    model = power_model_of(fitted->energy.parts, fitted->work, fitted->seconds, specified ? &*specified : nullptr);
  } else {
    model = *specified;
    if (link_bytes)
      powered.work.bytes = *link_bytes + (node.work.bytes - *link_bytes) * kCacheEnergyRatio;
    else if (node.mapping.level != "memory")
      model.joules_per_byte *= kCacheEnergyRatio;
  }
  if (conditions.power_cap_watts) {
    AACO_ASSIGN(node.clock_ratio, clock_under_cap(powered, model, *limit_of(device, conditions)));
    slow_down(powered.seconds(node.clock_ratio) / node.latency.seconds, node);
  }
  const EnergyParts parts = energy_parts(powered, model, node.clock_ratio);
  node.energy = fitted ? fitted_energy(fitted->energy, parts, node.clock_ratio) : specified_energy(parts);
  if (conditions.power_cap_watts) {  // it draws no more than that for as long as it takes
    const double most = *limit_of(device, conditions) * node.latency.upper;
    node.energy->upper = std::max(node.energy->joules(), std::min(node.energy->upper, most));
  }
  return {};
}

void add_graph_energy(const hardware::Device& device, const Conditions& conditions, const Waiting& waiting, GraphEstimate& out) {
  for (const NodeEstimate& node : out.nodes) out.least_clock_ratio = std::min(out.least_clock_ratio, node.clock_ratio);
  Footing footing;
  EnergyParts parts;
  Estimate sum{0, "J", Level::calibrated, "", 0, 0};
  const auto model = power_model(device, 1);
  bool specified = waiting.seconds > 0;
  if (specified && !model) return;
  for (const NodeEstimate& node : out.nodes) {
    if (!node.energy) return;  // a part is no sum
    specified = specified || node.energy->source == kSpecification;
    parts.compute_joules += node.energy->parts.compute_joules * node.repeats;
    parts.movement_joules += node.energy->parts.movement_joules * node.repeats;
    parts.static_joules += node.energy->parts.static_joules * node.repeats;
    sum.lower += node.energy->lower * node.repeats;
    sum.upper += node.energy->upper * node.repeats;
    footing.add(node.energy->level, node.energy->source, node.energy->joules() * node.repeats);
  }
  if (waiting.seconds > 0) {
    const double watts = model->static_watts();
    parts.static_joules += watts * waiting.seconds;
    sum.lower += watts / kEnergyFactor * waiting.low;
    sum.upper += watts * kEnergyFactor * waiting.high;
    footing.add(Level::theoretical, kSpecification, watts * waiting.seconds);
  }
  if (out.nodes.empty()) return;
  sum.value = parts.joules();
  footing.grade("energy", sum);
  if (specified && model) sum.source += ": " + model->source;
  out.energy_parts = parts;
  out.energy = sum;
  add_mean_power(limit_of(device, conditions), out);
}

void follow_latency(const hardware::Device& device, double seconds_before, GraphEstimate& out) {
  const auto model = power_model(device, 1);
  if (!out.energy || !model) return;
  const double before = out.energy->value, seconds = out.latency.value * 1e-9;
  double& flowing = out.energy_parts.static_joules;
  flowing = std::max(0.0, flowing + model->static_watts() * (seconds - seconds_before));
  out.energy->value = out.energy_parts.joules();
  out.energy->lower *= out.energy->value / before;
  out.energy->upper *= out.energy->value / before;
  add_mean_power(limit_of(device, {}), out);
}

}  // namespace aaco::estimation
