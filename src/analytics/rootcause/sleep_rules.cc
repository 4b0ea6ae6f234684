#include "analytics/rootcause/sleep_rules.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace aaco::analytics::rootcause {

bool computes_alone(const Side& side) {
  constexpr double kAlone = 0.9;  // of the process's CPU time
  return side.account && side.account->cpu_ns && side.account->process_cpu_ns &&
         *side.account->cpu_ns >= kAlone * *side.account->process_cpu_ns;
}

bool more_storage(const Side& fast, const Side& slow) {
  constexpr double kSector = 512;  // bytes per call
  if (!fast.account || !slow.account) return false;
  const auto grown = [](const std::optional<double>& before, const std::optional<double>& after) {
    return after.value_or(0) - before.value_or(0);
  };
  return grown(fast.account->storage_bytes, slow.account->storage_bytes) >= kSector ||
         grown(fast.account->major_faults, slow.account->major_faults) >= 1;
}

std::optional<bool> stalls_for_storage(const Side& fast_side, const Side& slow_side) {
  constexpr double kStalled = 0.4;  // of the added sleep, divided by the CPUs in use, over which the kernel averages stalls
  if (!fast_side.account || !slow_side.account) return std::nullopt;
  const auto &fast = *fast_side.account, &slow = *slow_side.account;
  if (!fast.io_some_ns || !slow.io_some_ns || !fast.blocked_ns || !slow.blocked_ns || !slow.others_cpu_ns ||
      !slow.process_cpu_ns || !(slow.wall_ns > 0))
    return std::nullopt;
  const double cpus = std::max(1.0, (*slow.others_cpu_ns + *slow.process_cpu_ns) / slow.wall_ns);
  const double asleep = *slow.blocked_ns - *fast.blocked_ns;
  return (slow.storage_bytes.value_or(0) > 0 || slow.major_faults.value_or(0) > 0) && asleep > 0 &&
         *slow.io_some_ns - *fast.io_some_ns >= kStalled / cpus * asleep;
}

bool waits_at_wake_ups(const Side& fast_side, const Side& slow_side) {
  // A few turns of the scheduler: its base slice is 2.8 ms at most (kernel/sched/fair.c, sysctl_sched_base_slice).
  constexpr double kLongestQueue = 6e6;  // ns per sleep
  constexpr double kMoreOfOthers = 0.1;  // CPUs, beyond what the run left
  const auto &fast = fast_side.account, &slow = slow_side.account;
  if (!fast || !slow || !computes_alone(fast_side) || !computes_alone(slow_side) || !fast->wait_ns || !slow->wait_ns ||
      !fast->voluntary_switches || !slow->voluntary_switches || !fast->others_cpu_ns || !slow->others_cpu_ns ||
      !(fast->wall_ns > 0) || !(slow->wall_ns > 0))
    return false;
  const double sleeps = *slow->voluntary_switches - *fast->voluntary_switches, waits = *slow->wait_ns - *fast->wait_ns;
  if (sleeps < 1 || waits > kLongestQueue * sleeps) return false;
  const double left = *fast->process_cpu_ns / fast->wall_ns - *slow->process_cpu_ns / slow->wall_ns;
  return *slow->others_cpu_ns / slow->wall_ns - *fast->others_cpu_ns / fast->wall_ns <= std::max(0.0, left) + kMoreOfOthers;
}

bool sleeps_to_move(const Side& fast, const Side& slow) {
  constexpr double kMoves = 0.5;  // of the added sleeps
  const auto added = [&](std::optional<double> signals::CallAccount::*member) {
    return ((*slow.account).*member).value_or(0) - ((*fast.account).*member).value_or(0);
  };
  return added(&signals::CallAccount::migrations) >= kMoves * added(&signals::CallAccount::voluntary_switches);
}

void rule_out_waits_at_wake_ups(const Side& fast, const Side& slow, Weights& weights) {
  if (!waits_at_wake_ups(fast, slow)) return;
  const std::string cause = sleeps_to_move(fast, slow) ? "migration" : "host_waiting";
  for (const std::string_view id : {"cpu_contention", "cpu_placement"}) {
    const auto found = weights.find(std::string(id));
    if (found == weights.end()) continue;
    weights[cause] += found->second;
    weights.erase(std::string(id));
  }
}

void tell_storage_from_other_sleep(const Side& fast, const Side& slow, const Decomposition& decomposition, Weights& weights) {
  const bool recorded = std::any_of(decomposition.parts.begin(), decomposition.parts.end(),
                                    [](const Part& part) { return part.id.starts_with("host_waiting:"); });
  constexpr double kMinShare = 0.5;
  bool storage = false;
  if (recorded) {
    const double faults = more_storage(fast, slow) ? share_of(decomposition, "host_waiting:page_faults") : 0;
    const double asleep = share_of(decomposition, "host_waiting");
    storage = asleep > 0 && share_of(decomposition, "host_waiting:io") + faults >= kMinShare * asleep;
  } else if (computes_alone(fast) && computes_alone(slow)) {
    const auto told = stalls_for_storage(fast, slow);
    storage = told.value_or(more_storage(fast, slow));
    if (!storage && !told) return;
  } else {
    return;
  }
  const std::string_view from = storage ? "host_waiting" : "storage", to = storage ? "storage" : "host_waiting";
  const auto found = weights.find(std::string(from));
  if (found == weights.end() || (recorded && !storage)) return;
  weights[std::string(to)] += found->second;
  weights.erase(std::string(from));
}

}  // namespace aaco::analytics::rootcause
