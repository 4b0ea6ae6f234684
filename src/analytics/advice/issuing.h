#pragma once

#include "analytics/gpu_advice.h"

// What the host does between the kernels of a trace: launching, dispatch, and waits for values.
namespace aaco::analytics::advice {

// Of all kernels of the device.
double kernel_count(const GpuFacts& facts);

// Idle time, ns, while kernels were launched and while operators or Python code ran between launches.
double dispatch_and_launch_ns(const GpuFacts& facts);

// Idle time, ns, in calls that launch graphs: the program replays them, and no launches of kernels take the time.
double graph_launch_ns(const GpuFacts& facts);
bool replays_graphs(const GpuFacts& facts);

// Whether the host waits for values of the device between launches: in as many gaps as `share` of the kernels, or for `share` of
// the time of dispatch and launching.
bool reads(const GpuFacts& facts, double share);

}  // namespace aaco::analytics::advice
