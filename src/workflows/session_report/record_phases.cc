#include "workflows/session_report/record_phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace aaco::workflows {

double mean_between(const report::Series& series, std::size_t begin, std::size_t end) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i)
    if (std::isfinite(series.value[i])) sum += series.value[i], ++count;
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

std::string quarters_of(const report::Series& counter) {
  std::string text;
  const std::size_t last = counter.value.size() - 1;
  for (std::size_t i = 0; i < kPhases; ++i) {
    const std::size_t from = last * i / kPhases, to = last * (i + 1) / kPhases;
    const auto ns = static_cast<double>(counter.time_ns[to] - counter.time_ns[from]);
    const double grown = std::max(0.0, counter.value[to] - counter.value[from]);
    text += fmt::format("{}{:.2g}", text.empty() ? "" : ", ", ns > 0 ? grown * 1e9 / ns : 0);
  }
  return text;
}

std::string phases_of(const report::Series& cores) {
  std::string text;
  const std::size_t count = cores.value.size();
  for (std::size_t i = 0; i < kPhases; ++i)
    text +=
        fmt::format("{}{:.2g}", text.empty() ? "" : ", ", mean_between(cores, count * i / kPhases, count * (i + 1) / kPhases));
  return text;
}

std::optional<std::pair<std::string, double>> busiest_process(const report::ReportModel& model) {
  double sum = 0, most = 0;
  std::string who;
  std::size_t count = 0;
  for (const auto& one : model.telemetry) {
    if (one.metric != "process.cpu_time_seconds" || !one.entity.starts_with("pid ") || one.value.empty()) continue;
    const double grown = one.value.back() - one.value.front();
    if (!std::isfinite(grown) || grown < 0) continue;
    ++count;
    sum += grown;
    if (grown > most) most = grown, who = one.entity;
  }
  return count > 1 && sum > 0 ? std::optional(std::pair(who, most / sum)) : std::nullopt;
}

}  // namespace aaco::workflows
