#include <algorithm>
#include <limits>

#include "analytics/gpu_advice.h"

namespace aaco::analytics::advice {
namespace {

constexpr double kMinKnown = 0.5;  // our own judgement

}  // namespace

std::vector<GpuKernel> gpu_kernels(std::span<const trace::KernelGroupRow> rows, const trace::NameTable& names, std::int32_t rank,
                                   std::int64_t device, std::span<const KernelRoof> roofs) {
  std::map<std::string, GpuKernel> kernels;
  for (const auto& row : rows) {
    if (row.rank != rank || row.device != device) continue;
    auto& kernel = kernels[std::string(names.text(row.kernel_name))];
    kernel.name = names.text(row.kernel_name);
    kernel.family = names.text(row.family);
    kernel.count += static_cast<double>(row.kernel_count);
    kernel.sum_ns += static_cast<double>(row.kernel_sum_ns);
  }
  // What no kernel of the trace is faster than: the limits of the device know nothing of starting and ending one.
  double shortest_ns = std::numeric_limits<double>::max();
  for (const auto& [name, kernel] : kernels)
    if (kernel.count > 0) shortest_ns = std::min(shortest_ns, kernel.sum_ns / kernel.count);
  std::map<std::string, double> known_ns;  // time of the executions whose work is known
  for (const KernelRoof& roof : roofs) known_ns[roof.name] += roof.time_ns;
  // The other executions are of the same code, and of work like it where most is known.
  const auto of_all = [&](const GpuKernel& kernel) {
    const double known = known_ns[kernel.name];
    return known >= kMinKnown * kernel.sum_ns ? std::max(1.0, kernel.sum_ns / known) : 1;
  };
  for (const KernelRoof& roof : roofs) {
    const auto found = kernels.find(roof.name);
    if (found == kernels.end()) continue;
    auto& kernel = found->second;
    const double above_ns = of_all(kernel) * roof.time_ns * std::max(0.0, 1 - roof.reached_ratio);
    kernel.ideal_ns = std::max(0.0, kernel.ideal_ns.value_or(kernel.sum_ns) - above_ns);
    kernel.memory_roof = roof.memory_roof;
    if (roof.faster_dtype.empty()) continue;
    kernel.faster_dtype = roof.faster_dtype;
    kernel.faster_saved_ns += of_all(kernel) * roof.time_ns * std::clamp(1 - roof.faster_ratio, 0.0, 1.0);
  }
  if (kernels.size() > 1)
    for (auto& [name, kernel] : kernels)
      if (kernel.ideal_ns) kernel.ideal_ns = std::min(kernel.sum_ns, std::max(*kernel.ideal_ns, kernel.count * shortest_ns));
  std::vector<GpuKernel> list;
  for (auto& [name, kernel] : kernels) list.push_back(std::move(kernel));
  return list;
}

}  // namespace aaco::analytics::advice
