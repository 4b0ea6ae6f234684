#include "workflows/session_report/report_scheduling.h"

#include <algorithm>
#include <vector>

#include "core/files.h"
#include "workflows/session/table_metrics.h"
#include "workflows/session_report/wait_tree.h"

namespace aaco::workflows {
namespace {

using analytics::scheduling::Summary;
using report::OperatingSystem;

constexpr std::size_t kMaxThreads = 24, kMaxReasons = 40;

// Those that spent the most time, running or waiting, first.
std::vector<OperatingSystem::Thread> threads_of(const Summary& summary) {
  std::vector<std::pair<std::int64_t, const Summary::Thread*>> order;
  for (const auto& [id, thread] : summary.threads()) order.emplace_back(id, &thread);
  const auto active_ns = [](const auto& one) { return one.second->run_ns + one.second->run_queue_ns; };
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) { return active_ns(a) > active_ns(b); });
  std::vector<OperatingSystem::Thread> out;
  for (std::size_t i = 0; i < order.size() && i < kMaxThreads; ++i) {
    const auto& [id, thread] = order[i];
    out.push_back({thread->name, id, thread->process_id, thread->run_ns, thread->run_queue_ns, thread->off_cpu_ns,
                   thread->migrations, thread->faults});
  }
  return out;
}

std::vector<OperatingSystem::Reason> reasons_of(const Summary& summary) {
  std::vector<std::pair<const Summary::Key*, const Summary::Reason*>> order;
  for (const auto& [key, reason] : summary.reasons()) order.emplace_back(&key, &reason);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->total_ns > b.second->total_ns; });
  std::vector<OperatingSystem::Reason> out;
  for (std::size_t i = 0; i < order.size() && i < kMaxReasons; ++i) {
    const auto& [kind, detail, call] = *order[i].first;
    const Summary::Reason& reason = *order[i].second;
    out.push_back({kind, detail, call, reason.count, reason.total_ns, reason.longest_ns, reason.bytes, reason.woken_ns});
  }
  return out;
}

}  // namespace

core::Status fill_scheduling(report::ReportModel& model, const std::string& session_path) {
  AACO_ASSIGN(const Summary summary, scheduling_summary(session_path));
  if (summary.empty()) return {};
  model.sections.operating_system =
      OperatingSystem{static_cast<std::int64_t>(summary.threads().size()), threads_of(summary), reasons_of(summary), {}};
  if (const auto folded = core::read_file(core::join_path(session_path, "telemetry/off_cpu.folded")))
    model.sections.operating_system->waits = wait_tree(*folded);
  return {};
}

}  // namespace aaco::workflows
