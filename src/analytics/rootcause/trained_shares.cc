#include "analytics/rootcause/trained_shares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace aaco::analytics::rootcause::trained {
namespace {

constexpr double kProfileTolerance = 1.3;
constexpr double kMinShare = 0.005;

enum Group : std::uint8_t { throttling, run_queue, page_faults, storage, waiting, host_computing, launch, node, unexplained };

struct Filling {
  double delta = 0, left = 1;
  std::array<double, kGroups.size()> shares{};

  // Returns what was taken, ns in the direction of the difference.
  double take(Group group, double ns) {
    const double taken = std::min(ns / delta, left);
    if (taken <= kMinShare) return 0;
    left -= taken;
    shares[group] += taken;
    return taken * std::abs(delta);
  }
};

double change(const std::optional<double>& a, const std::optional<double>& b) { return a && b ? *b - *a : 0; }

struct Waits {
  double caller_ns = 0, others_ns = 0;
};

std::optional<Waits> watched(const Side& side) {
  const auto* caller = trace::find_metric(side.metrics, "sched.caller_run_queue_ratio");
  const auto* process = trace::find_metric(side.metrics, "sched.process_run_queue_per_iteration_ns");
  if (caller == nullptr || process == nullptr) return std::nullopt;
  const double own = caller->value * side.call_ns;
  return Waits{own, std::max(0.0, process->value - own)};
}

double all_waiting(const Side& a, const Side& b) {
  const auto before = watched(a), after = watched(b);
  if (before && after) return after->caller_ns - before->caller_ns + after->others_ns - before->others_ns;
  if (!a.account || !b.account) return 0;
  return change(a.account->wait_ns, b.account->wait_ns) + change(a.account->others_wait_ns, b.account->others_wait_ns);
}

double take_kernel_time(const signals::CallAccount& a, const signals::CallAccount& b, Filling& rest) {
  double taken = 0;
  const double faults = change(a.minor_faults, b.minor_faults) + change(a.major_faults, b.major_faults);
  const double system = change(a.system_ns, b.system_ns);
  if (std::abs(faults) >= 1 && (faults > 0) == (system > 0)) taken += rest.take(page_faults, system);
  const double blocked = change(a.blocked_ns, b.blocked_ns), bytes = change(a.storage_bytes, b.storage_bytes);
  return taken + rest.take(std::abs(bytes) >= 1 && (bytes > 0) == (blocked > 0) ? storage : waiting, blocked);
}

void take_host_computing(const Side& a, const Side& b, double kernel, Filling& rest) {
  const auto before = a.signals.get("host.around_ratio"), after = b.signals.get("host.around_ratio");
  if (!before || !after) return;
  const double around = *after * b.call_ns - *before * a.call_ns;
  rest.take(host_computing, around > 0 ? std::max(0.0, around - kernel) : std::min(0.0, around + kernel));
}

std::map<std::string, double> by_operator(const Side& side) {
  std::map<std::string, double> times;
  for (const auto& one : side.nodes.operators) times[std::string(side.names->text(one.op_type))] += one.time.mean_ns;
  return times;
}

void take_nodes(const Side& a, const Side& b, Filling& rest) {
  const auto &parts_a = *a.nodes.parts, &parts_b = *b.nodes.parts;
  std::vector<std::pair<Group, double>> changes = {{launch, parts_b.between_nodes.mean_ns - parts_a.between_nodes.mean_ns +
                                                                parts_b.around_nodes.mean_ns - parts_a.around_nodes.mean_ns}};
  auto times = by_operator(a);
  for (auto& [name, ns] : times) ns = -ns;
  for (const auto& [name, ns] : by_operator(b)) times[name] += ns;
  for (const auto& [name, ns] : times) changes.emplace_back(node, ns);
  double forward = 0;
  for (const auto& [group, ns] : changes) forward += std::max(0.0, ns / rest.delta);
  if (forward <= 0) return;
  const double scale = std::min(kProfileTolerance, rest.left / forward);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.second) > std::abs(y.second); });
  for (const auto& [group, ns] : changes) rest.take(group, ns * scale);
}

}  // namespace

std::array<double, kGroups.size()> shares_of(const Side& a, const Side& b, bool profiled) {
  Filling rest;
  rest.delta = b.call_ns - a.call_ns;
  if (rest.delta == 0) return rest.shares;
  double kernel = 0;
  if (a.account && b.account && b.account->wall_ns > 0) {
    const double cpus = std::max(1.0, std::round(b.account->process_cpu_ns.value_or(0) / b.account->wall_ns));
    rest.take(throttling, change(a.account->throttled_ns, b.account->throttled_ns) / cpus);
  }
  rest.take(run_queue, all_waiting(a, b));
  if (a.account && b.account) kernel = take_kernel_time(*a.account, *b.account, rest);
  take_host_computing(a, b, kernel, rest);
  if (profiled)
    take_nodes(a, b, rest);
  else if (a.account && b.account)
    rest.take(node, change(a.account->cpu_ns, b.account->cpu_ns));
  rest.shares[unexplained] = rest.left;
  return rest.shares;
}

}  // namespace aaco::analytics::rootcause::trained
