#include "workflows/session_report/report_scheduling.h"

#include <algorithm>
#include <vector>

#include "workflows/session/table_metrics.h"

namespace aaco::workflows {
namespace {

using analytics::scheduling::Summary;
using core::Json;

constexpr std::size_t kMostThreads = 24, kMostReasons = 40;

// Those that spent the most time, running or waiting, first.
Json threads_of(const Summary& summary) {
  std::vector<std::pair<std::int64_t, const Summary::Thread*>> order;
  for (const auto& [id, thread] : summary.threads()) order.emplace_back(id, &thread);
  const auto active_ns = [](const auto& one) { return one.second->run_ns + one.second->run_queue_ns; };
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) { return active_ns(a) > active_ns(b); });
  Json out = Json::array();
  for (std::size_t i = 0; i < order.size() && i < kMostThreads; ++i) {
    const Summary::Thread& thread = *order[i].second;
    out.push(Json::object({{"name", thread.name},
                           {"thread_id", order[i].first},
                           {"process_id", thread.process_id},
                           {"run_ns", thread.run_ns},
                           {"run_queue_ns", thread.run_queue_ns},
                           {"off_cpu_ns", thread.off_cpu_ns},
                           {"migrations", thread.migrations},
                           {"page_faults", thread.faults}}));
  }
  return out;
}

Json reasons_of(const Summary& summary) {
  std::vector<std::pair<const Summary::Key*, const Summary::Reason*>> order;
  for (const auto& [key, reason] : summary.reasons()) order.emplace_back(&key, &reason);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->total_ns > b.second->total_ns; });
  Json out = Json::array();
  for (std::size_t i = 0; i < order.size() && i < kMostReasons; ++i) {
    const auto& [kind, detail, call] = *order[i].first;
    const Summary::Reason& reason = *order[i].second;
    Json row = Json::object({{"kind", kind},
                             {"detail", detail},
                             {"call", call},
                             {"count", reason.count},
                             {"total_ns", reason.total_ns},
                             {"longest_ns", reason.longest_ns}});
    if (reason.bytes > 0) row.set("bytes", reason.bytes);
    out.push(std::move(row));
  }
  return out;
}

}  // namespace

core::Status fill_scheduling(report::ReportModel& model, const std::string& session_path) {
  AACO_ASSIGN(const Summary summary, scheduling_summary(session_path));
  if (summary.empty()) return {};
  model.extra.set("operating_system", Json::object({{"thread_count", static_cast<std::int64_t>(summary.threads().size())},
                                                    {"threads", threads_of(summary)},
                                                    {"reasons", reasons_of(summary)}}));
  return {};
}

}  // namespace aaco::workflows
