#include "workflows/gpu/work_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/numbers.h"
#include "core/strings.h"
#include "trace/kernel_name.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kMinEarly = 0.01;  // of the linked work: fewer may be wrong links

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

void warn_of_order(const GpuOfTrace& gpu, std::vector<trace::Warning>& warnings) {
  const LaunchOrder& order = gpu.findings.order;
  if (static_cast<double>(order.early_count) < kMinEarly * static_cast<double>(order.linked_count) || order.early_count == 0)
    return;
  warnings.push_back(
      {"gpu.early_kernels",
       fmt::format("{}{} of {} kernels and copies begin before the call that launched them, by up to {}: the clocks of the host "
                   "and the device differ. Launch latencies and causes of gaps that are not much longer are not reliable",
                   label_of(gpu), order.early_count, order.linked_count,
                   core::format_duration(static_cast<double>(order.most_ns))),
       "record again, or with a newer profiler; times within the device are not affected"});
}

void warn_of_lead(const GpuOfTrace& gpu, std::vector<trace::Warning>& warnings) {
  const auto& lead = gpu.findings.lead;
  if (!lead) return;
  const std::string activity =
      lead->activity.empty() ? std::string()
                             : fmt::format(" Most of it: {} ({})", lead->activity, core::format_percent(lead->activity_ratio));
  warnings.push_back({"gpu.lead",
                      fmt::format("{}the host runs for {} before the first work of the device, which the span ({}), idle time "
                                  "and shares do not contain.{}",
                                  label_of(gpu), core::format_duration(static_cast<double>(lead->time_ns)),
                                  core::format_duration(static_cast<double>(gpu.time.span_ns)), activity),
                      "if this recurs in each run, it counts: shorten it, or start the trace after it"});
}

}  // namespace

void warn_of_work(const GpuAnalysis& analysis, std::vector<trace::Warning>& warnings) {
  if (analysis.no_timeline) return;
  for (const GpuOfTrace& gpu : analysis.gpus) {
    warn_of_slowing(gpu, warnings);
    warn_of_few_groups(gpu, warnings);
    warn_of_order(gpu, warnings);
    warn_of_lead(gpu, warnings);
  }
}

std::optional<trace::Warning> missing_ranks(const Json& files) {
  constexpr std::size_t kMaxListed = 8;
  std::set<std::int64_t> given;
  std::int64_t world_size = 0;
  for (const Json& file : files.items()) {
    const Json& job = file["facts"]["distributed"];
    const auto rank = job["rank"].as_i64(), size = job["world_size"].as_i64();
    if (!rank || !size || *rank < 0 || *rank >= *size || (world_size != 0 && *size != world_size)) return std::nullopt;
    world_size = *size;
    given.insert(*rank);
  }
  // A trace of one rank is an ordinary input: it compares nothing.
  const std::int64_t missing = world_size - static_cast<std::int64_t>(given.size());
  if (given.size() < 2 || missing <= 0) return std::nullopt;
  std::vector<std::string> listed;
  for (std::int64_t rank = 0; rank < world_size && listed.size() < kMaxListed; ++rank)
    if (!given.contains(rank)) listed.push_back(std::to_string(rank));
  return trace::Warning{
      "import.missing_ranks",
      fmt::format("the job has {} ranks, and {} of them {} no trace here ({}{}): the rank that the others wait for may be one of "
                  "these",
                  world_size, missing, missing == 1 ? "has" : "have", core::join(listed, ", "),
                  missing > static_cast<std::int64_t>(listed.size()) ? ", ..." : ""),
      "import the traces of all ranks together"};
}

}  // namespace aaco::workflows
