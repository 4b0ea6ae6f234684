#include "workflows/session_report/record_time.h"

#include <algorithm>
#include <optional>
#include <string>

#include "trace/metric.h"
#include "workflows/session_report/record_waits.h"

namespace aaco::workflows {
namespace {

std::optional<double> value_of(const report::ReportModel& model, std::string_view id) {
  const auto* metric = trace::find_metric(model.metrics, id);
  return metric != nullptr ? std::optional(metric->value) : std::nullopt;
}

void add(report::ReportModel& model, std::string name, double ns) {
  if (ns <= 0) return;
  report::TimeShare part;
  part.name = std::move(name);
  part.total_ns = ns;
  model.parts.push_back(std::move(part));
}

}  // namespace

void fill_record_time(report::ReportModel& model) {
  const auto cpu_ns = value_of(model, "process.cpu_time_ns");
  if (model.session.kind != "record" || !model.parts.empty() || !cpu_ns || *cpu_ns <= 0) return;
  const double kernel_ratio = std::clamp(value_of(model, "process.system_ratio").value_or(0), 0.0, 1.0);
  const auto waits = recorded_waits(model.sections.operating_system);
  const auto wall_ns = static_cast<double>(model.session.outcome.wall_ns.value_or(0));
  const double sampled_ns = value_of(model, "process.run_queue_wait_ratio").value_or(0) * wall_ns;
  add(model, "computing", *cpu_ns * (1 - kernel_ratio));
  add(model, "in the kernel", *cpu_ns * kernel_ratio);
  add(model, "waiting for a CPU", std::max(sampled_ns, waits ? waits->run_queue_ns : 0));
  if (waits)
    for (const auto& [cause, ns] : waits->causes) add(model, "asleep: " + cause, ns);
  double whole_ns = 0;
  for (const auto& part : model.parts) whole_ns += part.total_ns;
  for (auto& part : model.parts) part.share_ratio = part.total_ns / whole_ns;
  model.time_whole = waits ? report::TimeWhole::threads : report::TimeWhole::active;
}

}  // namespace aaco::workflows
