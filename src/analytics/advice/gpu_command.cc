#include "analytics/advice/gpu_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace aaco::analytics::advice {

std::string command_of(std::string_view id, const std::string& session, const std::string& idle) {
  if (id == "unexplained_idle") return "aaco import TRACE_WITH_HOST_EVENTS --tag traced && aaco explain tag:traced";
  if (id == "slowing_kernels") return "aaco record --tag watched -- COMMAND && aaco report tag:watched";
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kWhat = {
      {{"launch_bound", "--metric gpu.span_ns,gpu.kernel_count"},
       {"copy_bound", "--metric gpu.exposed_copy_ns"},
       {"communication_bound", "--metric gpu.exposed_collective_ns"},
       {"straggler", "--metric gpu.exposed_collective_ns"},
       {"microkernels", "--metric gpu.kernel_count,gpu.kernel_sum_ns"},
       {"memory_bound", "--kernels"},
       {"precision", "--kernels"},
       {"elementwise_fusion", "--metric gpu.kernel_count,gpu.kernel_sum_ns"},
       {"compute_bound", "--kernels"},
       {"costliest_kernel", "--kernels"}}};
  const auto found = std::find_if(kWhat.begin(), kWhat.end(), [&](const auto& one) { return one.first == id; });
  const std::string of_idle = "--metric " + idle;
  return fmt::format("aaco import CHANGED_TRACE --tag changed && aaco diff {} tag:changed {}", session,
                     found == kWhat.end() ? of_idle : found->second);
}

}  // namespace aaco::analytics::advice
