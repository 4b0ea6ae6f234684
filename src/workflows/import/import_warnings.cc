#include "workflows/import/import_warnings.h"

#include <fmt/format.h>

#include <cmath>

#include "analytics/attribution_obstacle.h"
#include "analytics/stray_work.h"
#include "core/numbers.h"
#include "workflows/gpu/work_warnings.h"

namespace aaco::workflows {
namespace {

using core::Json;
using Warnings = std::vector<trace::Warning>;

std::string label_of(const GpuOfTrace& gpu) { return gpu_label(gpu.rank, gpu.device) + ": "; }

void warn_of_attribution(const GpuAnalysis& analysis, Warnings& warnings) {
  for (const GpuOfTrace& gpu : analysis.gpus) {
    const auto& coverage = gpu.coverage;
    const auto obstacle = why_not_attributed(coverage, {analysis.has_api_calls, analysis.has_causes, analysis.has_captures});
    if (!obstacle) continue;
    std::string message;
    if (analysis.has_api_calls)
      message =
          label_of(gpu) + std::to_string(coverage.attributed_count) + " of " + std::to_string(coverage.kernel_count) +
          " kernels are attributed to an operator or range (" +
          core::format_percent(static_cast<double>(coverage.attributed_sum_ns) / static_cast<double>(coverage.kernel_sum_ns)) +
          " of kernel time): ";
    warnings.push_back({std::string(obstacle->id), message + std::string(obstacle->reason), std::string(obstacle->remedy)});
    if (!analysis.has_api_calls) return;  // of the whole trace
  }
}

// Where a graph was given or found and no kernel could be joined to it.
void warn_of_graph(const GpuAnalysis& analysis, Warnings& warnings) {
  std::string reason;
  for (const Json& join : analysis.nodes["joins"].items()) {
    if (join["joined_kernels_a_step"].as_i64().value_or(0) > 0) return;
    reason = join["explanation"].text();
  }
  if (analysis.nodes.is_object() && !reason.empty())
    warnings.push_back(
        {"attribution.graph_unlike",
         "no kernel could be matched to the nodes of " + std::string(analysis.nodes["source"].text()) + ": " + reason,
         "pass the exact model that ran (--graph) and its batch size (--batch)"});
}

void warn_of_timeline(const GpuAnalysis& analysis, Warnings& warnings) {
  if (const auto& none = analysis.no_timeline)
    warnings.push_back({"gpu.no_timeline",
                        (is_unknown_without(*none, "launch.tax") ? "no bottleneck, launch rate or launch tax is given ("
                                                                 : "no bottleneck is given (") +
                            none->reason + "): " + none->text,
                        "trace one run of the program with its host events"});
}

void warn_of_stray_work(const GpuOfTrace& gpu, Warnings& warnings) {
  const auto stray = stray_work(gpu.time);
  if (!stray) return;
  warnings.push_back(
      {"gpu.stray_work",
       label_of(gpu) + std::to_string(stray->count) + " of " + std::to_string(stray->work_count) + " device activities are " +
           core::format_duration(static_cast<double>(stray->idle_ns)) + (stray->before ? " before" : " after") +
           " all others: span, idle time and the ratios based on them cover both parts",
       "possible causes: a wrong timestamp, a clock adjustment, or start-up work; profile only the part of interest"});
}

// Nothing runs before it was launched: the profiler's two clocks are apart.
void warn_of_early_kernels(const GpuOfTrace& gpu, Warnings& warnings) {
  const std::string moved =
      gpu.host_offset_ns == 0
          ? std::string()
          : fmt::format(
                " Causes of idle time are looked for with the device's times "
                "moved by {}{}",
                gpu.host_offset_ns < 0 ? "-" : "+", core::format_duration(std::abs(static_cast<double>(gpu.host_offset_ns))));
  if (gpu.host_offset_ns < 0)
    warnings.push_back({"gpu.kernels_after_wait",
                        label_of(gpu) + "device work ends after the host's wait for it had returned, by up to " +
                            core::format_duration(static_cast<double>(-gpu.host_offset_ns)) +
                            " and more: the profiler's clocks of host and device differ by at least that, so launch delays and "
                            "causes of short gaps are uncertain." +
                            moved,
                        "durations, counts and busy time are not affected; try a newer version of the profiler"});
  if (gpu.early_kernels == 0) return;
  warnings.push_back({"gpu.kernels_before_launch",
                      label_of(gpu) + std::to_string(gpu.early_kernels) + " of " + std::to_string(gpu.time.kernel_count) +
                          " kernels start before the call that launched them, by up to " +
                          core::format_duration(static_cast<double>(gpu.earliest_ns)) +
                          ": the profiler's clocks of host and device differ by at least that, so launch delays and causes of "
                          "short gaps are uncertain" +
                          (moved.empty() ? moved : "." + moved),
                      "durations, counts and busy time are not affected; try a newer version of the profiler"});
}

void warn_of_times(const GpuAnalysis& analysis, Warnings& warnings) {
  for (const GpuOfTrace& gpu : analysis.gpus)
    if (const auto odd = gpu.time.invalid_count + gpu.time.out_of_order_count; odd > 0)
      warnings.push_back({"gpu.odd_times",
                          label_of(gpu) + std::to_string(odd) +
                              " device activities are ignored: invalid timestamps (end before start, or out of range)",
                          "the profiler wrote invalid timestamps; see its issue tracker"});
  for (const GpuOfTrace& gpu : analysis.gpus) warn_of_stray_work(gpu, warnings);
  for (const GpuOfTrace& gpu : analysis.gpus) {
    warn_of_early_kernels(gpu, warnings);
    if (gpu.ranks.size() > 1)
      warnings.push_back({"gpu.shared",
                          label_of(gpu) + std::to_string(gpu.ranks.size()) +
                              " processes ran work on it: it counts as one GPU, and busy and idle time are those of all of them",
                          "compare with a trace of one process to find out what sharing costs"});
  }
  for (const GpuOfTrace& gpu : analysis.gpus)
    if (gpu.repeated_kernels > 0)
      warnings.push_back({"gpu.repeated_kernels",
                          label_of(gpu) + std::to_string(gpu.repeated_kernels) + " of " + std::to_string(gpu.time.kernel_count) +
                              " kernels are duplicates (same name, stream, times and ids): counts and sums include each copy, "
                              "busy time only one",
                          "check for a concatenated file, or the same trace passed under two names"});
}

}  // namespace

std::vector<trace::Warning> trace_warnings(const GpuAnalysis& analysis) {
  Warnings warnings;
  warn_of_attribution(analysis, warnings);
  warn_of_graph(analysis, warnings);
  warn_of_times(analysis, warnings);
  warn_of_timeline(analysis, warnings);
  warn_of_work(analysis, warnings);
  if (analysis.has_device_steps)
    warnings.push_back(
        {"import.device_steps",
         "the host runs ahead of the device: the steps' ranges are dispatch times, so latency is that of the device, "
         "from the end of one step's work to the end of the next's",
         "iterations of phase step are the host's, of phase device_step the device's"});
  return warnings;
}

}  // namespace aaco::workflows
