#include "workflows/run/cpu_account.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace aaco::workflows {
namespace {

constexpr std::string_view kCpuUse = "process.cpu_use_cores";

// Between the first reading and the largest: a child that ended is missing until its parent has waited for it.
std::optional<double> growth_ns(std::span<const trace::SystemEventRow> events, const trace::NameTable& names,
                                std::string_view metric) {
  std::optional<double> first;
  double most = 0;
  std::size_t count = 0;
  for (const auto& row : events) {
    if (names.text(row.metric) != metric || names.text(row.entity) != "tree" || !std::isfinite(row.value)) continue;
    if (!first) first = row.value;
    most = std::max(most, row.value);
    ++count;
  }
  return count > 1 ? std::optional((most - *first) * 1e9) : std::nullopt;
}

std::optional<double> share_above_zero(std::span<const trace::SystemEventRow> events, const trace::NameTable& names,
                                       std::string_view metric) {
  double above = 0, count = 0;
  for (const auto& row : events)
    if (names.text(row.metric) == metric && names.text(row.entity) == "tree") ++count, above += row.value > 0 ? 1 : 0;
  return count > 0 ? std::optional(above / count) : std::nullopt;
}

}  // namespace

CpuTotal cpu_total(const core::ChildUsage& usage) {
  return {static_cast<double>(usage.user_ns + usage.system_ns), static_cast<double>(usage.system_ns)};
}

std::optional<CpuTotal> cpu_total(std::span<const trace::SystemEventRow> events, const trace::NameTable& names) {
  const auto cpu = growth_ns(events, names, "process.cpu_time_seconds");
  const auto system = growth_ns(events, names, "process.system_time_seconds");
  return cpu && system ? std::optional(CpuTotal{*cpu, std::min(*cpu, *system)}) : std::nullopt;
}

void account_cpu(const CpuTotal& total, double wall_ns, trace::Metrics& metrics) {
  if (wall_ns <= 0) return;
  const auto use = std::find_if(metrics.begin(), metrics.end(), [](const auto& one) { return one.id == kCpuUse; });
  const double sampled_ns = use != metrics.end() ? use->value * wall_ns : 0;
  const double cpu_ns = std::max(total.cpu_ns, sampled_ns);
  const double unsampled = cpu_ns > 0 ? 1 - sampled_ns / cpu_ns : 0;
  if (unsampled > kMaxUnsampled) {
    const trace::MetricValue whole{std::string(kCpuUse), cpu_ns / wall_ns, "cores", {}, {}};
    if (use != metrics.end())
      *use = whole;
    else
      metrics.push_back(whole);
  }
  metrics.push_back({"process.cpu_time_ns", cpu_ns, "ns", {}, {}});
  if (total.cpu_ns > 0) metrics.push_back({"process.system_ratio", total.system_ns / total.cpu_ns, "ratio", {}, {}});
  if (cpu_ns > 0) metrics.push_back({"process.cpu_unsampled_ratio", unsampled, "ratio", {}, {}});
}

void account_states(std::span<const trace::SystemEventRow> events, const trace::NameTable& names, trace::Metrics& metrics) {
  if (const auto share = share_above_zero(events, names, "process.stopped_count"))
    metrics.push_back({"process.stopped_ratio", *share, "ratio", {}, {}});
  if (const auto share = share_above_zero(events, names, "process.disk_sleep_count"))
    metrics.push_back({"process.disk_sleep_ratio", *share, "ratio", {}, {}});
}

}  // namespace aaco::workflows
