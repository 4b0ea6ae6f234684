#include "analytics/advice/issuing.h"

namespace aaco::analytics::advice {

double kernel_count(const GpuFacts& facts) {
  double count = 0;
  for (const GpuKernel& kernel : facts.kernels) count += kernel.count;
  return count;
}

double dispatch_and_launch_ns(const GpuFacts& facts) {
  double sum = 0;
  for (const HostIdle& one : facts.host)
    if (one.launching || one.cause == "framework" || one.cause == "python") sum += one.idle.idle_ns;
  return sum;
}

double graph_launch_ns(const GpuFacts& facts) {
  double sum = 0;
  for (const HostIdle& one : facts.host)
    if (one.cause == "graph-launch") sum += one.idle.idle_ns;
  return sum;
}

bool replays_graphs(const GpuFacts& facts) { return graph_launch_ns(facts) > 0; }

bool reads(const GpuFacts& facts, double share) {
  GpuIdle waits;
  for (const HostIdle& one : facts.host)
    if (one.cause == "synchronous-copy" || one.cause == "synchronisation")
      waits.gap_count += one.idle.gap_count, waits.idle_ns += one.idle.idle_ns;
  if (!(waits.idle_ns > 0)) return false;
  return static_cast<double>(waits.gap_count) >= share * kernel_count(facts) ||
         waits.idle_ns >= share * dispatch_and_launch_ns(facts);
}

}  // namespace aaco::analytics::advice
