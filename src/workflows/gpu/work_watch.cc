#include "workflows/gpu/work_watch.h"

#include <algorithm>
#include <span>

#include "analytics/host_profile.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::trace_time::DeviceTime;
using core::Json;

constexpr std::int64_t kMinLeadNs = 5'000'000;  // our own judgement: a start of less is no matter
constexpr double kMinLead = 0.2;                // of the device's span

}  // namespace

void WorkWatch::add(const trace::KernelRow& row, analytics::fingerprint::Family family) {
  pace_.add(row, analytics::fingerprint::to_string(family));
}

WorkFindings WorkWatch::finish(const Device& device, const DeviceTime& time, double unit_count,
                               const trace::NameTable& names) const {
  WorkFindings found;
  const auto kernels = pace_.of(device.first, device.second);
  found.slowing = analytics::trace_time::slowing_kernels(kernels, time.first_ns, time.last_ns);
  found.uneven = lengths_.uneven(device.first, kernels);
  if (unit_count > 0)
    if (const auto few = analytics::trace_time::few_groups(kernels, unit_count, time.span_ns))
      found.few_groups = FewGroups{std::string(names.text(few->name)), few->count, few->sum_ns, few->group_count,
                                   static_cast<std::int64_t>(unit_count)};
  return found;
}

void WorkWatch::add(const trace::IterationRow& step) {
  auto& first = steps_start_.try_emplace(step.rank, step.start_ns).first->second;
  first = std::min(first, step.start_ns);
  lengths_.add(step);
}

core::Result<std::optional<LeadTime>> WorkWatch::lead_time(const std::string& path, std::int32_t rank, const DeviceTime& time,
                                                           std::optional<std::int64_t> host_start_ns,
                                                           const analytics::gaps::CauseBook& causes) const {
  const auto steps = steps_start_.find(rank);
  const std::int64_t until_ns = steps == steps_start_.end() ? time.first_ns : std::min(time.first_ns, steps->second);
  if (!host_start_ns || !analytics::trace_time::is_time(*host_start_ns)) return std::optional<LeadTime>();
  LeadTime lead{until_ns - *host_start_ns, {}, 0};
  if (lead.time_ns < kMinLeadNs || static_cast<double>(lead.time_ns) < kMinLead * static_cast<double>(time.span_ns))
    return std::optional<LeadTime>();
  trace::NameTable names;
  analytics::gaps::HostProfile profile(causes, names);
  AACO_TRY(tracelake::scan_where<trace::ApiCallRow>(path, names, {}, {{"arguments", "NULL"}},
                                                    [&](std::span<const trace::ApiCallRow> rows) -> core::Status {
                                                      for (trace::ApiCallRow row : rows) {
                                                        row.end_ns = std::min(row.end_ns, until_ns);
                                                        if (row.rank == rank && row.start_ns < until_ns) profile.add(row);
                                                      }
                                                      return {};
                                                    }));
  for (const auto& share : profile.finish().shares) {
    const auto& cause = causes.at(share.cause);
    if (cause.id == "unknown") continue;
    lead.activity = cause.title;
    lead.activity_ratio = static_cast<double>(share.time_ns) / static_cast<double>(lead.time_ns);
    break;
  }
  return std::optional(lead);
}

Json to_json(const WorkFindings& findings) {
  Json out = Json::object({});
  if (const auto& slow = findings.slowing)
    out.set("slowing_kernels", Json::object({{"kernel_count", slow->kernel_count},
                                             {"time_ratio", slow->time_ratio},
                                             {"late_to_early_ratio", slow->late_to_early_ratio},
                                             {"excess_ns", slow->excess_ns}}));
  if (const auto& few = findings.few_groups)
    out.set("few_groups", Json::object({{"kernel", few->kernel},
                                        {"count", few->count},
                                        {"sum_ns", few->sum_ns},
                                        {"group_count", few->group_count},
                                        {"unit_count", few->unit_count}}));
  if (const auto& lead = findings.lead)
    out.set("lead",
            Json::object({{"time_ns", lead->time_ns}, {"activity", lead->activity}, {"activity_ratio", lead->activity_ratio}}));
  if (const auto& uneven = findings.uneven)
    out.set("uneven_steps", Json::object({{"step_count", uneven->step_count},
                                          {"long_count", uneven->long_count},
                                          {"longest_step", uneven->longest},
                                          {"longest_ns", uneven->longest_ns},
                                          {"median_ns", uneven->median_ns},
                                          {"long_ratio", uneven->long_ratio},
                                          {"once_kernel_count", uneven->once_count},
                                          {"once_ns", uneven->once_ns}}));
  return out.members().empty() ? Json() : out;
}

}  // namespace aaco::workflows
