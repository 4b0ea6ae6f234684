#include "workflows/session_report/report_calls.h"

#include <fmt/format.h>

#include "core/numbers.h"

namespace aaco::workflows {

std::optional<report::Statement> gpu_calls_statement(const report::ReportModel& model) {
  const auto value = [&](std::string_view id) {
    const auto* found = trace::find_metric(model.metrics, id);
    return found == nullptr ? 0.0 : found->value;
  };
  if (trace::find_metric(model.metrics, "calls.launch_count") == nullptr) return std::nullopt;
  report::Statement out;
  out.id = "gpu_calls";
  out.title = "GPU runtime calls";
  const double launches = value("calls.launch_count"), idle = value("calls.known_idle_ns");
  out.text =
      fmt::format("The program made {} launches ({} per second) and waited {} for devices.", core::format_count(launches),
                  core::format_count(value("calls.launches_per_second")), core::format_duration(value("calls.sync_sum_ns")));
  out.evidence.push_back(
      fmt::format("launch calls took {} each on average", core::format_duration(value("calls.launch_mean_ns"))));
  out.evidence.push_back(fmt::format("{} copies and fills: {}, {} in the calls", core::format_count(value("calls.copy_count")),
                                     core::format_bytes(value("calls.copy_bytes")),
                                     core::format_duration(value("calls.copy_sum_ns"))));
  out.evidence.push_back(fmt::format("{} device allocations, at most {} at a time",
                                     core::format_count(value("calls.allocation_count")),
                                     core::format_bytes(value("calls.allocated_peak_bytes"))));
  if (const auto* joined = trace::find_metric(model.metrics, "calls.joined_kernel_ratio"); joined != nullptr)
    out.evidence.push_back(
        fmt::format("{} of the trace's kernels are joined to the call that launched them", core::format_percent(joined->value)));
  if (idle > 0)
    out.evidence.push_back(
        fmt::format("devices had no work of the program for at least {} (from the end of a synchronisation to the "
                    "next launch): see the gaps",
                    core::format_duration(idle)));
  return out;
}

}  // namespace aaco::workflows
