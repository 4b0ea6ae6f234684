#pragma once

#include "estimation/analysis.h"

namespace aaco::estimation {

// What the host takes to issue a node, and within what; low = high where it was given.
struct HostTime {
  double seconds = 0, low = 0, high = 0;
};
HostTime host_time(const hardware::Device& device, const Conditions& conditions);

// How long the device waits for the host in all, and between what, nodes and host at their low ends or high ends together.
struct Waiting {
  double seconds = 0, low = 0, high = 0;
};

// The time of the graph from that of its nodes, and its bounds: the same with every node and the host at theirs, because what a
// model does not know of a device is the same for all nodes of a run.
Waiting schedule(const hardware::Device& device, const HostTime& host, GraphEstimate& out);

}  // namespace aaco::estimation
