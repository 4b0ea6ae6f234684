#include "analytics/rootcause/cause_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

namespace aaco::analytics::rootcause {
namespace {

constexpr std::size_t kMaxRows = 4;

// The parts whose time a cause takes: ids, or their beginnings ("node:").
struct PartsOfCause {
  std::string_view cause;
  std::array<std::string_view, 4> parts;
};
constexpr std::array kPartsOfCauses = {
    PartsOfCause{"cpu_contention", {"run_queue_wait", "host_waiting:workers_waiting"}},
    PartsOfCause{"cpu_placement", {"run_queue_wait", "host_waiting:workers_waiting"}},
    PartsOfCause{"interrupts", {"run_queue_wait"}},
    PartsOfCause{"priority", {"run_queue_wait", "host_waiting:workers_waiting"}},
    PartsOfCause{"cpu_throttling", {"cpu_throttling"}},
    PartsOfCause{"page_faults", {"page_faults", "host_waiting:page_faults"}},
    PartsOfCause{"storage", {"host_waiting:io", "host_waiting"}},
    PartsOfCause{"stopped", {"host_waiting:stopped", "host_waiting"}},
    PartsOfCause{"frozen", {"host_waiting:frozen", "host_waiting"}},
    PartsOfCause{"host_computing", {"host_computing"}},
    PartsOfCause{"launch_overhead", {"launch"}},
    PartsOfCause{"system_calls", {"system_calls"}},
};
constexpr std::array<std::string_view, 5> kWaitingParts = {"host_waiting", "host_waiting:lock", "host_waiting:timer",
                                                           "host_waiting:awaited_thread_asleep", "host_waiting:peer"};
constexpr std::array<std::string_view, 4> kComputingParts = {"node:", "computing", "launch", "host_waiting:workers_computing"};

std::span<const std::string_view> parts_of(std::string_view cause) {
  for (const PartsOfCause& one : kPartsOfCauses)
    if (one.cause == cause) return one.parts;
  if (cause == "host_waiting") return kWaitingParts;
  return kComputingParts;
}

bool has_own_parts(std::string_view cause) { return cause == "cpu_throttling" || cause == "priority"; }

bool takes(std::string_view cause, const Part& part) {
  const auto parts = parts_of(cause);
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view one) {
    return !one.empty() && (one.ends_with(':') ? part.id.starts_with(one) : part.id == one);
  });
}

std::string row_of(const Part& part, const Decomposition& decomposition) {
  return fmt::format("{}: {:.0f} % of the difference ({})", part.title, 100 * part.ns / decomposition.delta_ns, part.evidence);
}

// A counter of both sides that moves with a cause.
struct Counter {
  std::string_view cause, title, unit;
  std::optional<double> (*value)(const Side&);
};
std::optional<double> per_wall(const Side& side, std::optional<double> signals::CallAccount::*member) {
  if (!side.account || !(side.account->wall_ns > 0) || !((*side.account).*member)) return std::nullopt;
  return *((*side.account).*member) / side.account->wall_ns;
}
std::optional<double> cpus_of_others(const Side& side) { return side.signals.get("others.cpu_use_cores"); }
std::optional<double> cpus_in_use(const Side& side) { return per_wall(side, &signals::CallAccount::process_cpu_ns); }
std::optional<double> per_call(const Side& side, std::optional<double> signals::CallAccount::*member) {
  return side.account ? (*side.account).*member : std::nullopt;
}
constexpr std::array kCounters = {
    Counter{"cpu_contention", "CPUs used by other processes", "", &cpus_of_others},
    Counter{"memory_contention", "CPUs used by other processes", "", &cpus_of_others},
    Counter{"memory_contention", "CPUs used by the process", "", &cpus_in_use},
    Counter{"cpu_placement", "CPUs used by the process", "", &cpus_in_use},
    Counter{"fewer_threads", "CPUs used by the process", "", &cpus_in_use},
    Counter{"migration", "migrations", " per call",
            [](const Side& side) { return per_call(side, &signals::CallAccount::migrations); }},
    Counter{"interrupts", "interrupts", " per call",
            [](const Side& side) { return per_call(side, &signals::CallAccount::interrupts); }},
    Counter{"stopped", "stops (SIGSTOP)", " per call",
            [](const Side& side) { return per_call(side, &signals::CallAccount::stops); }},
    Counter{"frozen", "freezes of the control group", " per call",
            [](const Side& side) { return per_call(side, &signals::CallAccount::freezes); }},
};

}  // namespace

double share_of_cause(std::string_view cause, const Decomposition& decomposition) {
  double ns = 0;
  for (const Part& part : decomposition.parts)
    if (takes(cause, part)) ns += part.ns;
  return decomposition.delta_ns != 0 ? ns / decomposition.delta_ns : 0;
}

double share_of_setting(std::string_view cause, const Decomposition& decomposition) {
  if (has_own_parts(cause)) return share_of_cause(cause, decomposition);
  double share = 1 - (decomposition.delta_ns != 0 ? decomposition.unexplained_ns / decomposition.delta_ns : 0);
  // These make threads wait, too.
  const bool traced = cause == "traced";
  const bool of_cpus = traced || cause == "cpu_placement" || cause == "threads" || cause == "preload";
  if (!of_cpus) share -= share_of_cause("cpu_contention", decomposition);
  share -= share_of_cause("cpu_throttling", decomposition);
  for (const Part& part : decomposition.parts)
    if ((part.id == "host_waiting:stopped" && !traced) || part.id == "host_waiting:frozen")
      share -= part.ns / decomposition.delta_ns;
  return share;
}

std::vector<std::string> evidence_of_cause(std::string_view cause, const Side& a, const Side& b,
                                           const Decomposition& decomposition) {
  std::vector<std::string> rows;
  for (const Part& part : decomposition.parts)
    if (rows.size() < kMaxRows && takes(cause, part)) rows.push_back(row_of(part, decomposition));
  for (const Counter& counter : kCounters) {
    if (counter.cause != cause) continue;
    const auto before = counter.value(a), after = counter.value(b);
    if (before && after)
      rows.push_back(fmt::format("{}: {:.3g}{} instead of {:.3g}", counter.title, *after, counter.unit, *before));
  }
  if (rows.empty()) rows.emplace_back("no part of the difference is its own; ranked by the counters of both sides");
  return rows;
}

std::vector<std::string> evidence_of_setting(std::string_view cause, const Decomposition& decomposition) {
  const bool own = has_own_parts(cause);
  std::vector<std::string> rows;
  for (const Part& part : decomposition.parts)
    if (rows.size() < kMaxRows && (!own || takes(cause, part))) rows.push_back(row_of(part, decomposition));
  return rows;
}

}  // namespace aaco::analytics::rootcause
