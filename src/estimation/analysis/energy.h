#pragma once

#include <optional>

#include "estimation/analysis.h"
#include "estimation/analysis/host.h"

namespace aaco::estimation {

// What a calibration of the device says of a node's own kernel, which did that work in that time at full clock.
struct FittedEnergy {
  EnergyEstimate energy;
  Work work;
  double seconds = 0;
};

// The node's energy, and the clock that the power limit leaves: the estimate of its time slows down as its compute part does. By
// the fit where there is one, what is fused behind the kernel at the fit's own joules an operation and byte; else by
// specifications, which may be off by kEnergyFactor either way. What a cap does no measurement shows: where it binds, the levels
// of a fitted time and energy are THEORETICAL, and the bounds take in that the clock does not fall, or falls twice as far. Fails
// as clock_under_cap() does, and with unsupported where a cap is asked for and the device has no board power; without a cap there
// is no energy then. `link_bytes`: as for the estimate of the time.
core::Status add_node_energy(const hardware::Device& device, const Conditions& conditions, std::optional<FittedEnergy> fitted,
                             std::optional<double> link_bytes, NodeEstimate& node);

// The graph's energy and mean power, and what they rest on. Nodes err together, as their times do: the ends of their intervals
// are summed, not the squares. While the device waits for the host, static power flows by specifications.
void add_graph_energy(const hardware::Device& device, const Conditions& conditions, const Waiting& waiting, GraphEstimate& out);

}  // namespace aaco::estimation
