#include "analytics/rootcause/account_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "analytics/rootcause/sleep_rules.h"

namespace aaco::analytics::rootcause {
namespace {

constexpr double kMoreComputing = 0.1;  // of the caller's CPU time per call
constexpr double kInProportion = 1.3;   // of the wait that the computing alone explains

// Memory traffic of others is a cause only where others compute more on the slower side: other processes, or more threads of the
// run. Otherwise the same work took longer for a reason that is not recorded.
void rule_out_idle_neighbours(const Side& fast, const Side& slow, Weights& weights) {
  const auto found = weights.find(std::string(kMemoryContention));
  if (found == weights.end()) return;
  const auto grew = [](std::optional<double> before, std::optional<double> after) {
    return !before || !after || *after - *before >= kBusyOthers;
  };
  constexpr std::string_view kOwn = "process.cpu_use_cores";
  if (grew(neighbours(fast), neighbours(slow)) || grew(fast.signals.get(kOwn), slow.signals.get(kOwn))) return;
  weights[std::string(kSlowerExecution)] += found->second;
  weights.erase(std::string(kMemoryContention));
}

void rule_out_waits_that_follow(const Side& fast, const Side& slow, Weights& weights) {
  if (!waits_follow(fast, slow)) return;
  weights.erase("cpu_contention");
  weights.erase("cpu_placement");
  if (std::all_of(weights.begin(), weights.end(), [](const auto& one) { return one.second <= 0; }))
    weights[std::string(kSlowerExecution)] = 1;
}

// Where the profiled pass puts the difference into the nodes, the host around them is not its cause.
constexpr double kInNodes = 0.8, kOutside = 0.05;
void rule_out_the_host_beside_nodes(const Decomposition& decomposition, Weights& weights) {
  if (!decomposition.profiled || share_of(decomposition, "node") + share_of(decomposition, "launch") < kInNodes) return;
  const auto found = weights.find("host_computing");
  if (found == weights.end() || share_of(decomposition, "host_computing") >= kOutside) return;
  weights[std::string(kSlowerExecution)] += found->second;
  weights.erase("host_computing");
}

// The reverse: what the profiled pass puts beside the nodes is the host's work, not the same work taking longer.
void rule_out_nodes_that_did_not_change(const Decomposition& decomposition, Weights& weights) {
  const double outside = share_of(decomposition, "host_computing");
  const double inside = std::max(0.0, share_of(decomposition, "node")) + std::max(0.0, share_of(decomposition, "launch"));
  if (!decomposition.profiled || outside < kOutside || outside < kInNodes * (outside + inside)) return;
  const auto found = weights.find(std::string(kSlowerExecution));
  if (found == weights.end()) return;
  weights["host_computing"] += found->second;
  weights.erase(std::string(kSlowerExecution));
}

// Only a profiled pass tells work around the model from the model's own.
constexpr double kByFaults = 0.2;  // of the difference: page faults are work of the host
void rule_out_the_host_unseen(const Decomposition& decomposition, Weights& weights) {
  if (decomposition.profiled || share_of(decomposition, "page_faults") >= kByFaults) return;
  const auto found = weights.find("host_computing");
  if (found == weights.end() || share_of(decomposition, "host_computing") > 0) return;
  weights[std::string(kSlowerExecution)] += found->second;
  weights.erase("host_computing");
}

// A CPU that the caller waited for was used by other threads of the run, or by other processes: the run's own CPU time tells.
constexpr double kOwnUse = 0.5;  // of the added wait
void rule_out_threads_that_did_not_run(const Side& fast, const Side& slow, Weights& weights) {
  const auto found = weights.find("cpu_placement");
  if (found == weights.end() || waits_for_own_threads(fast, slow)) return;
  weights["cpu_contention"] += found->second;
  weights.erase("cpu_placement");
}

// Other processes that got no more of the CPUs than before are not what changed: where the run's own threads or child processes
// got what the caller lost, it waits for these. A caller that sleeps for such a thread waits for what that thread does.
void rule_out_others_that_gained_nothing(const Side& fast, const Side& slow, const Decomposition& decomposition,
                                         Weights& weights) {
  const auto found = weights.find("cpu_contention");
  const double own = probability_of_most(share_of_own_work(fast, slow));
  if (found == weights.end() || own <= 0) return;
  const bool asleep = share_of(decomposition, "host_waiting") > share_of(decomposition, "run_queue_wait");
  weights[asleep ? "host_waiting" : "cpu_placement"] += own * found->second;
  found->second *= 1 - own;
}

// Time of the caller in the kernel, faults aside, is that of system calls: the host's work, not the model's.
constexpr double kMostlyCalls = 0.5;  // of what the caller computed longer
void name_system_calls(const Decomposition& decomposition, Weights& weights) {
  const double calls = share_of(decomposition, kSystemCalls);
  if (calls <= 0 || calls < kMostlyCalls * (calls + share_of(decomposition, "node") + share_of(decomposition, "launch") +
                                            share_of(decomposition, "host_computing") + share_of(decomposition, "page_faults")))
    return;
  for (const std::string_view id : {kSlowerExecution, std::string_view("host_computing"), std::string_view("page_faults")}) {
    const auto found = weights.find(std::string(id));
    if (found == weights.end()) continue;
    weights[std::string(kSystemCalls)] += found->second;
    weights.erase(std::string(id));
  }
}

// Run-queue wait of the caller is measured: where it is most of the difference, no cause that takes CPU time is the main one.
constexpr double kMostlyWaiting = 0.65;  // of the difference
constexpr double kTold = 0.2;            // of the ranking, for it to tell the causes of waits apart
void let_the_wait_decide(const Side& fast, const Side& slow, const Decomposition& decomposition, Weights& weights) {
  const double share = share_of(decomposition, "run_queue_wait");
  if (share < kMostlyWaiting || waits_follow(fast, slow) || waits_at_wake_ups(fast, slow)) return;
  Weights waiting, other;
  for (const auto& [id, weight] : weights) {
    const bool waits = id == "cpu_contention" || id == "cpu_placement" || id == "cpu_throttling" || id == "migration" ||
                       id == "interrupts" || id == "stopped" || id == "frozen";
    (waits ? waiting : other)[id] = weight;
  }
  double sum = 0;
  for (const auto& [id, weight] : waiting) sum += weight;
  if (sum < kTold) waiting = {{cause_of_waits(slow), 1}};
  scale(waiting, probability_of_most(share));
  scale(other, 1 - probability_of_most(share));
  weights = std::move(other);
  for (const auto& [id, weight] : waiting) weights[id] += weight;
}

// The account adds up, so a ranking that puts a cause first whose kind of time is clearly not the largest part is wrong. Then the
// kinds share the probability by a power of their shares that leaves the certainty of probability_of_most() at 35 and 65 %;
// within a kind the ranking stays.
enum class Kind : std::uint8_t { waiting, throttled, sleeping, computing, any };
constexpr std::size_t kKinds = 4;
constexpr double kPower = 5.6;     // ln(0.97 / 0.03) / ln(0.65 / 0.35)
constexpr double kClearly = 0.05;  // of the difference
constexpr double kMuchSurer = 0.2;

Kind kind_of(std::string_view cause) {
  if (cause == "cpu_contention" || cause == "cpu_placement" || cause == "priority") return Kind::waiting;
  if (cause == "cpu_throttling") return Kind::throttled;
  if (cause == "host_waiting" || cause == "storage" || cause == "stopped" || cause == "frozen") return Kind::sleeping;
  // These take time of any kind.
  return cause == "interrupts" || cause == "migration" ? Kind::any : Kind::computing;
}

std::array<double, kKinds> shares_of_kinds(const Side& fast, const Side& slow, const Decomposition& decomposition) {
  std::array<double, kKinds> shares{};
  const auto add = [&](Kind kind, double share) { shares.at(static_cast<std::size_t>(kind)) += share; };
  for (const Part& part : decomposition.parts) {
    const double share = part.ns / decomposition.delta_ns;
    if (part.id == "run_queue_wait")
      add(waits_follow(fast, slow)                                       ? Kind::computing
          : waits_at_wake_ups(fast, slow) && !sleeps_to_move(fast, slow) ? Kind::sleeping
                                                                         : Kind::waiting,
          share);
    else if (part.id == "host_waiting:workers_waiting")
      add(Kind::waiting, share);
    else if (part.id == "cpu_throttling")
      add(Kind::throttled, share);
    else if (part.id == "host_waiting" && others_wait_for_cpus(fast, slow, part.ns))
      add(Kind::waiting, share);
    else if (part.id.starts_with("host_waiting") && part.id != "host_waiting:workers_computing" &&
             (part.id != "host_waiting:page_faults" || more_storage(fast, slow)))
      add(Kind::sleeping, share);
    else
      add(Kind::computing, share);
  }
  return shares;
}

std::string usual_cause(Kind kind, const Side& slow) {
  switch (kind) {
    case Kind::waiting: return cause_of_waits(slow);
    case Kind::throttled: return "cpu_throttling";
    case Kind::sleeping: return "host_waiting";
    default: return std::string(kSlowerExecution);
  }
}

void follow_the_parts(const Side& fast, const Side& slow, const Decomposition& decomposition, Weights& weights) {
  const auto first =
      std::max_element(weights.begin(), weights.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  if (first == weights.end() || !decomposition.baseline_account || !decomposition.candidate_account) return;
  const Kind kind = kind_of(first->first);
  const auto shares = shares_of_kinds(fast, slow, decomposition);
  const auto largest = static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  if (kind == Kind::any) return;
  std::array<Weights, kKinds> by_kind;
  double sum = 0, all = 0, of_first = 0;
  for (const auto& [id, weight] : weights) {
    const Kind own = kind_of(id);
    by_kind.at(own == Kind::any ? largest : static_cast<std::size_t>(own))[id] = weight;
    all += weight;
    if (own == kind) of_first += weight;
  }
  for (const double share : shares) sum += std::pow(std::max(0.0, share), kPower);
  // A ranking that agrees with the parts stays, unless it is much surer than they are.
  const double first_share = shares.at(static_cast<std::size_t>(kind));
  const bool surer = of_first / all > std::pow(std::max(0.0, first_share), kPower) / sum + kMuchSurer;
  if (shares.at(largest) < first_share + kClearly && !surer) return;
  weights.clear();
  for (std::size_t i = 0; i < kKinds; ++i) {
    const double mass = std::pow(std::max(0.0, shares.at(i)), kPower) / sum;
    double told = 0;
    for (const auto& [id, weight] : by_kind.at(i)) told += weight;
    if (!(told > 0)) by_kind.at(i) = {{usual_cause(static_cast<Kind>(i), slow), 1}};
    scale(by_kind.at(i), mass);
    for (const auto& [id, weight] : by_kind.at(i)) weights[id] += weight;
  }
}

// The process computes as much per call, on fewer CPUs: the caller does work that other threads did before.
constexpr double kSameWork = 0.15;  // of the process's CPU time per call
constexpr double kMoreOfCaller = 0.15;
constexpr double kFewerCpus = 0.15;  // CPUs in use
void name_fewer_threads(const Side& fast, const Side& slow, Weights& weights) {
  if (!fast.account || !slow.account) return;
  const auto &before = *fast.account, &after = *slow.account;
  if (!before.process_cpu_ns || !after.process_cpu_ns || !before.cpu_ns || !after.cpu_ns || before.wall_ns <= 0 ||
      after.wall_ns <= 0)
    return;
  const double work = *after.process_cpu_ns / *before.process_cpu_ns, own = *after.cpu_ns / *before.cpu_ns;
  const double cpus_before = *before.process_cpu_ns / before.wall_ns, cpus_after = *after.process_cpu_ns / after.wall_ns;
  if (!(std::abs(work - 1) <= kSameWork) || !(own >= 1 + kMoreOfCaller) || cpus_after > cpus_before - kFewerCpus) return;
  for (const std::string_view id : {kSlowerExecution, std::string_view("host_computing")}) {
    const auto found = weights.find(std::string(id));
    if (found == weights.end()) continue;
    weights[std::string(kFewerThreads)] += found->second;
    weights.erase(std::string(id));
  }
}

}  // namespace

double share_of(const Decomposition& decomposition, std::string_view group) {
  if (decomposition.delta_ns == 0) return 0;
  double ns = group == "unexplained" ? decomposition.unexplained_ns : 0;
  for (const Part& part : decomposition.parts)
    if (part.id == group || (group == "node" && (part.id.starts_with("node:") || part.id == "computing")) ||
        (group == "host_waiting" && part.id.starts_with("host_waiting:")))
      ns += part.ns;
  return ns / decomposition.delta_ns;
}

double probability_of_most(double share) {
  if (share <= 0) return 0;
  constexpr double kNever = 0.35, kAlways = 0.65;
  return std::clamp((share - kNever) / (kAlways - kNever), 1 - kCertain, kCertain);
}

void scale(Weights& weights, double to) {
  double sum = 0;
  for (const auto& [id, weight] : weights) sum += std::max(0.0, weight);
  for (auto& [id, weight] : weights) weight = sum > 0 ? std::max(0.0, weight) * to / sum : 0;
}

std::optional<double> neighbours(const Side& side) {
  const auto others = side.signals.get("others.cpu_use_cores");
  if (!others || !side.account || !side.account->elsewhere_cpu_ns || !(side.account->wall_ns > 0)) return others;
  return *others + *side.account->elsewhere_cpu_ns / side.account->wall_ns;
}

std::string cause_of_waits(const Side& slow) {
  const bool of_others = slow.signals.get("others.cpu_use_cores").value_or(0) >= kBusyOthers &&
                         slow.signals.get("others.wait_ratio").value_or(1) > signals::kExplainedWait;
  return of_others ? "cpu_contention" : "cpu_placement";
}

bool others_wait_for_cpus(const Side& fast, const Side& slow, double asleep_ns) {
  if (!fast.account || !slow.account || !fast.account->others_wait_ns || !slow.account->others_wait_ns) return false;
  return *slow.account->others_wait_ns - *fast.account->others_wait_ns >= asleep_ns / 2;
}

double share_of_own_work(const Side& fast, const Side& slow) {
  constexpr double kMinGain = 0.1;  // CPUs
  // CPUs in use: by the caller, by the rest of the run with its child processes, and by other processes.
  struct Use {
    double caller = 0, own = 0, others = 0;
  };
  const auto use = [](const Side& side) -> std::optional<Use> {
    const auto& is = side.account;
    if (!is || !is->cpu_ns || !is->process_cpu_ns || !is->others_cpu_ns || !(is->wall_ns > 0)) return std::nullopt;
    return Use{*is->cpu_ns / is->wall_ns, (*is->process_cpu_ns - *is->cpu_ns) / is->wall_ns, *is->others_cpu_ns / is->wall_ns};
  };
  const auto before = use(fast), after = use(slow);
  if (!before || !after || after->caller >= before->caller) return 0;
  const double gain = after->own - before->own;
  return gain >= kMinGain ? gain / (gain + std::max(0.0, after->others - before->others)) : 0;
}

bool waits_for_own_threads(const Side& fast, const Side& slow) {
  if (!fast.account || !slow.account || share_of_own_work(fast, slow) >= kOwnUse) return true;
  const auto &before = *fast.account, &after = *slow.account;
  if (!before.wait_ns || !after.wait_ns || !after.process_cpu_ns || !after.cpu_ns || *after.wait_ns <= *before.wait_ns)
    return true;
  return *after.process_cpu_ns - *after.cpu_ns >= kOwnUse * (*after.wait_ns - *before.wait_ns);
}

bool waits_follow(const Side& fast_side, const Side& slow_side) {
  const auto &fast = fast_side.account, &slow = slow_side.account;
  if (!fast || !slow || !fast->cpu_ns || !slow->cpu_ns || !fast->wait_ns || !slow->wait_ns || !(*fast->cpu_ns > 0)) return false;
  const double more = *slow->cpu_ns / *fast->cpu_ns - 1;
  return more >= kMoreComputing && *slow->wait_ns - *fast->wait_ns <= kInProportion * more * *fast->wait_ns;
}

void apply_account(const Side& fast, const Side& slow, const Decomposition& decomposition, Weights& weights) {
  rule_out_idle_neighbours(fast, slow, weights);
  rule_out_the_host_beside_nodes(decomposition, weights);
  rule_out_nodes_that_did_not_change(decomposition, weights);
  rule_out_the_host_unseen(decomposition, weights);
  rule_out_waits_that_follow(fast, slow, weights);
  follow_the_parts(fast, slow, decomposition, weights);
  let_the_wait_decide(fast, slow, decomposition, weights);
  rule_out_threads_that_did_not_run(fast, slow, weights);
  rule_out_others_that_gained_nothing(fast, slow, decomposition, weights);
  rule_out_waits_at_wake_ups(fast, slow, weights);
  tell_storage_from_other_sleep(fast, slow, decomposition, weights);
  name_system_calls(decomposition, weights);
  name_fewer_threads(fast, slow, weights);
}

}  // namespace aaco::analytics::rootcause
