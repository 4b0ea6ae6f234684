#include "estimation/analysis/host.h"

#include <algorithm>

namespace aaco::estimation {
namespace {

// In front of an asynchronous launch; from node to node on the processor itself; in a program compiled ahead. A framework that
// issues kernel by kernel takes longer on a processor, whose cores also compute.
constexpr double kGpuHostS = 5e-6, kCpuHostS = 1e-6, kEagerCpuHostS = 10e-6, kAheadHostS = 0;
// GPUs that share a chip with a few small cores, at full power; caps hold those back as they do the GPU. Frameworks on Jetson
// modules were seen to take some 200 us (docs/results.md).
constexpr double kEmbeddedHostS = 20e-6, kEagerEmbeddedHostS = 150e-6;
constexpr double kHostFactor = 3;  // how far these may be off, either way

bool is_embedded(const hardware::Device& device) {
  return device.kind == hardware::DeviceKind::gpu && device.memory.kind.starts_with("LPDDR");
}

// The highest clock that the device or one of its capped states has, over the clock that it is seen with.
double held_back(const hardware::Device& device) {
  const double now = device.clock_hz().value_or(0);
  double most = now;
  for (const auto& state : device.power.states)
    if (state.clock_hz) most = std::max(most, state.clock_hz->value);
  return now > 0 ? most / now : 1;
}

double usual_seconds(const hardware::Device& device, bool eager) {
  if (is_embedded(device)) return (eager ? kEagerEmbeddedHostS : kEmbeddedHostS) * held_back(device);
  switch (device.kind) {
    case hardware::DeviceKind::gpu: return kGpuHostS;
    case hardware::DeviceKind::cpu: return eager ? kEagerCpuHostS : kCpuHostS;
    case hardware::DeviceKind::accelerator: break;
  }
  return kAheadHostS;
}

// When the last node ends, and how long the host was at work. The host issues nodes one after the other and runs ahead of the
// device as far as it can; a processor does both itself.
struct Course {
  double end = 0, host = 0;
};
template <class Latency>
Course course_of(const hardware::Device& device, double host_s, const std::vector<NodeEstimate>& nodes, const Latency& latency) {
  Course at;
  for (const NodeEstimate& node : nodes) {
    const double device_s = latency(node);
    if (device.kind == hardware::DeviceKind::cpu) {
      at.end += (device_s + host_s) * node.repeats;
      at.host += host_s * node.repeats;
      continue;
    }
    // Repetitions of one node: after the first, the slower of both sets the pace.
    at.host += host_s;
    at.end = std::max(at.host, at.end) + device_s + (node.repeats - 1) * std::max(device_s, host_s);
    at.host += (node.repeats - 1) * host_s;
  }
  return at;
}

}  // namespace

HostTime host_time(const hardware::Device& device, const Conditions& conditions) {
  if (conditions.host_ns) return {*conditions.host_ns * 1e-9, *conditions.host_ns * 1e-9, *conditions.host_ns * 1e-9};
  const double usual = usual_seconds(device, conditions.eager);
  return {usual, usual / kHostFactor, usual * kHostFactor};
}

Waiting schedule(const hardware::Device& device, const HostTime& host, GraphEstimate& out) {
  const auto low = course_of(device, host.low, out.nodes, [](const NodeEstimate& node) { return node.latency.lower; });
  const auto high = course_of(device, host.high, out.nodes, [](const NodeEstimate& node) { return node.latency.upper; });
  const auto at = course_of(device, host.seconds, out.nodes, [](const NodeEstimate& node) { return node.latency.seconds; });
  double least = 0, most = 0;
  for (const NodeEstimate& node : out.nodes) {
    out.device_seconds += node.seconds();
    least += node.latency.lower * node.repeats;
    most += node.latency.upper * node.repeats;
  }
  out.latency.value = at.end * 1e9;
  out.latency.lower = low.end * 1e9;
  out.latency.upper = high.end * 1e9;
  out.host_exposed_seconds = std::max(0.0, at.end - out.device_seconds);
  out.overlapped_seconds = std::max(0.0, at.host - out.host_exposed_seconds);
  const double likely = out.host_exposed_seconds;
  return {likely, std::clamp(low.end - least, 0.0, likely), std::max(likely, high.end - most)};
}

}  // namespace aaco::estimation
