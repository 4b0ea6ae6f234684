#include "workflows/session_report/record_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using trace::find_metric;

// Shares from which a cause limits the program: our own judgement.
constexpr double kWaiting = 0.15;   // of the threads' running and waiting time
constexpr double kThrottled = 0.1;  // of the time
constexpr double kGpuBusy = 0.7;
constexpr double kIoStalled = 0.2;   // of the time some task waited for storage
constexpr double kCpusBusy = 0.85;   // of the machine's CPUs
constexpr double kIdle = 0.3;        // CPUs, below which the program mostly sleeps
constexpr double kMajorFaults = 50;  // per second
constexpr std::size_t kPhases = 4;

struct Facts {
  const report::ReportModel& model;
  [[nodiscard]] std::optional<double> metric(std::string_view id) const {
    const auto* found = find_metric(model.metrics, id);
    return found == nullptr ? std::nullopt : std::optional(found->value);
  }
  [[nodiscard]] const report::Series* series(std::string_view name, std::string_view entity) const {
    for (const auto& one : model.telemetry)
      if (one.metric == name && one.entity == entity && !one.value.empty()) return &one;
    return nullptr;
  }
};

double mean_of(const report::Series& series, std::size_t begin, std::size_t end) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i)
    if (std::isfinite(series.value[i])) sum += series.value[i], ++count;
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

std::optional<double> mean_of(const report::Series* series) {
  return series == nullptr ? std::nullopt : std::optional(mean_of(*series, 0, series->value.size()));
}

// Mean over the GPUs.
std::optional<double> gpu_use(const Facts& facts) {
  double sum = 0, count = 0;
  for (const auto& metric : facts.model.metrics)
    if (metric.id == "gpu.use_ratio") sum += metric.value, ++count;
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// The process whose CPU time grew most, and its share; empty with one process.
std::optional<std::pair<std::string, double>> busiest_process(const Facts& facts) {
  double sum = 0, most = 0;
  std::string who;
  std::size_t count = 0;
  for (const auto& one : facts.model.telemetry) {
    if (one.metric != "process.cpu_time_seconds" || !one.entity.starts_with("pid ") || one.value.empty()) continue;
    const double grown = one.value.back() - one.value.front();
    if (!std::isfinite(grown) || grown < 0) continue;
    ++count;
    sum += grown;
    if (grown > most) most = grown, who = one.entity;
  }
  return count > 1 && sum > 0 ? std::optional(std::pair(who, most / sum)) : std::nullopt;
}

struct Limit {
  std::string_view id, title, text;
};

Limit limit_of(const Facts& facts, double cores, std::optional<double> cpus) {
  const double waiting = facts.metric("process.run_queue_wait_ratio").value_or(0);
  if (facts.metric("cgroup.throttled_ratio").value_or(0) >= kThrottled)
    return {"cpu_throttling", "CPU quota", "The program's control group used up its CPU quota and was throttled."};
  if (waiting > 0 && waiting / (waiting + cores) >= kWaiting)
    return {"cpu_contention", "waiting for a CPU", "Runnable threads waited because no CPU was free."};
  if (gpu_use(facts).value_or(0) >= kGpuBusy)
    return {"gpu_busy", "the GPU",
            "The GPU was busy most of the time: trace it ('aaco record --profile', or a framework's profiler)."};
  const auto stalled = facts.metric("pressure.io_some_ratio");
  const auto io = facts.metric("cpu.iowait_ratio");
  if (stalled.value_or(0) >= kIoStalled || (!stalled && cores < kIdle && io.value_or(0) >= kIoStalled))
    return {"storage", "storage I/O", "Tasks waited for storage."};
  if (mean_of(facts.series("process.major_faults_per_second", "tree")).value_or(0) >= kMajorFaults)
    return {"page_faults", "page faults from storage", "Memory had to be read from storage first."};
  if (cpus && cores >= kCpusBusy * *cpus)
    return {"compute_bound", "CPU computation", "All CPUs of the machine were busy with the program."};
  if (cores < kIdle)
    return {"host_waiting", "host waits",
            "The program slept most of the time: on timers, locks, the network or other processes."};
  if (cores >= 0.9 && cores <= 1.1)
    return {"compute_bound", "one CPU", "About one CPU was busy throughout: one thread does the work."};
  return {"inconclusive", "", "No resource was near its limit all the time: profile the phases that take long."};
}

// "CPUs busy over the run: 0.4, 3.8, 3.9, 1.0"
std::string phases_of(const report::Series& cores) {
  std::string text;
  const std::size_t count = cores.value.size();
  for (std::size_t i = 0; i < kPhases; ++i)
    text += fmt::format("{}{:.2g}", text.empty() ? "" : ", ", mean_of(cores, count * i / kPhases, count * (i + 1) / kPhases));
  return text;
}

}  // namespace

std::optional<RecordVerdict> record_verdict(const report::ReportModel& model) {
  const Facts facts{model};
  const auto* use = facts.series("process.cpu_use_cores", "tree");
  const auto cores = facts.metric("process.cpu_use_cores") ? facts.metric("process.cpu_use_cores") : mean_of(use);
  if (!cores) return std::nullopt;
  const core::Json& cpu = model.environment["cpu"];
  const auto count = cpu[cpu.contains("allowed_cpus") ? "allowed_cpus" : "logical_cpus"].as_f64();
  const Limit limit = limit_of(facts, *cores, count);
  RecordVerdict out;
  const auto gpu = gpu_use(facts);
  out.sentence = fmt::format("{:.3g}{} CPUs busy", *cores, count ? fmt::format(" of {:.0f}", *count) : "");
  if (gpu) out.sentence += ", GPU busy " + core::format_percent(*gpu);
  out.sentence += limit.title.empty() ? "; no single limit" : fmt::format("; limited by {}", limit.title);
  out.why.id = limit.id;
  out.why.title = limit.title.empty() ? "Bottleneck not determined" : fmt::format("Limited by {}", limit.title);
  out.why.text = limit.text;
  auto& evidence = out.why.evidence;
  evidence.push_back(fmt::format("process.cpu_use_cores {:.3g}: CPUs kept busy by the program", *cores));
  const auto add = [&](std::string_view id, std::string_view meaning, std::optional<double> value, bool ratio) {
    if (value && *value > 0)
      evidence.push_back(
          fmt::format("{} {}: {}", id, ratio ? core::format_percent(*value) : fmt::format("{:.3g}", *value), meaning));
  };
  add("process.run_queue_wait_ratio", "time its threads waited for a CPU, summed over threads",
      facts.metric("process.run_queue_wait_ratio"), true);
  add("cgroup.throttled_ratio", "time stopped by the CPU quota", facts.metric("cgroup.throttled_ratio"), true);
  add("pressure.io_some_ratio", "time in which some task waited for storage", facts.metric("pressure.io_some_ratio"), true);
  for (const auto& [id, meaning] : {std::pair("process.storage_read_bytes_per_second", "bytes read from storage per second"),
                                    std::pair("process.storage_write_bytes_per_second", "bytes written to storage per second"),
                                    std::pair("process.major_faults_per_second", "page faults that read storage, per second"),
                                    std::pair("process.minor_faults_per_second", "page faults without storage, per second")})
    add(id, meaning, mean_of(facts.series(id, "tree")), false);
  if (gpu) add("gpu.use_ratio", "GPU use, mean over the GPUs", gpu, true);
  if (const auto who = busiest_process(facts))
    evidence.push_back(fmt::format("{} of the CPU time is of {}", core::format_percent(who->second), who->first));
  if (use != nullptr && use->value.size() >= 2 * kPhases)
    evidence.push_back("CPUs busy, by quarter of the run: " + phases_of(*use));
  return out;
}

}  // namespace aaco::workflows
