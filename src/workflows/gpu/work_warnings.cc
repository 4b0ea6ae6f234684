#include "workflows/gpu/work_warnings.h"

#include <fmt/format.h>

#include <string>

#include "core/numbers.h"
#include "trace/kernel_name.h"
#include "workflows/gpu/uneven_steps.h"

namespace aaco::workflows {
namespace {

std::string label_of(const GpuOfTrace& gpu) { return gpu_label(gpu.rank, gpu.device) + ": "; }

void warn_of_slowing(const GpuOfTrace& gpu, std::vector<trace::Warning>& warnings) {
  const auto& slow = gpu.findings.slowing;
  if (!slow) return;
  warnings.push_back(
      {"gpu.slowing_kernels",
       fmt::format(
           "{}kernels of the same work (name, grid and block) get slower over the trace: {} kernels with {} of the kernel "
           "time take {:.2f} times as long in its last quarter as in its first. This is consistent with a falling clock, "
           "not proven",
           label_of(gpu), slow->kernel_count, core::format_percent(slow->time_ratio), slow->late_to_early_ratio),
       "log the clock, power and temperature during the run (amd-smi, rocm-smi or nvidia-smi), and compare with a run on a cool "
       "device"});
}

void warn_of_few_groups(const GpuOfTrace& gpu, std::vector<trace::Warning>& warnings) {
  const auto& few = gpu.findings.few_groups;
  if (!few) return;
  const auto sum = static_cast<double>(few->sum_ns);
  warnings.push_back(
      {"gpu.few_groups",
       fmt::format("{}{} has {} work-group{} for {} compute units: most of the device has no work of it for {} ({} of the span)",
                   label_of(gpu), trace::short_kernel_name(few->kernel), few->group_count, few->group_count == 1 ? "" : "s",
                   few->unit_count, core::format_duration(sum),
                   core::format_percent(sum / static_cast<double>(gpu.time.span_ns))),
       "split its work into more groups, use larger batches, or run it beside other kernels (streams)"});
}

void warn_of_lead(const GpuOfTrace& gpu, std::vector<trace::Warning>& warnings) {
  const auto& lead = gpu.findings.lead;
  if (!lead) return;
  const std::string activity =
      lead->activity.empty() ? std::string()
                             : fmt::format(" {}: {} ({})", lead->activity_ratio >= 0.5 ? "Most of it" : "The largest part of it",
                                           lead->activity, core::format_percent(lead->activity_ratio));
  warnings.push_back({"gpu.lead",
                      fmt::format("{}the host runs for {} before the first work of the device, which the span ({}), idle time "
                                  "and shares do not contain.{}",
                                  label_of(gpu), core::format_duration(static_cast<double>(lead->time_ns)),
                                  core::format_duration(static_cast<double>(gpu.time.span_ns)), activity),
                      "if this recurs in each run, it counts: shorten it, or start the trace after it"});
}

void warn_of_uneven_steps(const GpuOfTrace& gpu, std::vector<trace::Warning>& warnings) {
  const auto& uneven = gpu.findings.uneven;
  if (!uneven) return;
  const std::string which =
      uneven->long_count == 1
          ? fmt::format("step {} of {} takes {}, the median step {}: it is", uneven->longest, uneven->step_count,
                        core::format_duration(uneven->longest_ns), core::format_duration(uneven->median_ns))
          : fmt::format(
                "{} of {} steps take {} times as long as the median one ({}) or more, the longest (step {} of {}) {}: they "
                "are",
                uneven->long_count, uneven->step_count, StepLengths::kMuchLonger, core::format_duration(uneven->median_ns),
                uneven->longest, uneven->step_count, core::format_duration(uneven->longest_ns));
  warnings.push_back({"gpu.uneven_steps",
                      fmt::format("{}{} {} of the steps' time, which throughput and shares contain and the median does not",
                                  label_of(gpu), which, core::format_percent(uneven->long_ratio)),
                      uneven->longest == 1
                          ? "start the trace after the first step, unless the program starts as often as that"
                          : "look at that step in the timeline, and trace more steps to see how often it recurs"});
}

}  // namespace

void warn_of_work(const GpuAnalysis& analysis, std::vector<trace::Warning>& warnings) {
  if (analysis.no_timeline) return;
  for (const GpuOfTrace& gpu : analysis.gpus) {
    warn_of_slowing(gpu, warnings);
    warn_of_few_groups(gpu, warnings);
    warn_of_lead(gpu, warnings);
    warn_of_uneven_steps(gpu, warnings);
  }
}

}  // namespace aaco::workflows
