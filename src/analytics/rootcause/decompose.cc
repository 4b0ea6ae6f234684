#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analytics/rootcause.h"
#include "analytics/sleep_causes.h"
#include "core/numbers.h"

namespace aaco::analytics::rootcause {
namespace {

constexpr double kProfileTolerance = 1.3;  // the profiled pass may show this much less of a difference than the measured one
constexpr double kNarrowed = 0.5;          // below this the profiled passes differ so much more that it is said
constexpr double kMinPart = 0.005;         // of the difference; smaller parts stay in unexplained

double change(const std::optional<double>& a, const std::optional<double>& b) { return a && b ? *b - *a : 0; }

// Whether `ns` lies between nothing and `whole`, so that it can be a part of it.
bool within(double ns, double whole) { return std::abs(ns) <= std::abs(whole) && (ns > 0) == (whole > 0); }

class Parts {
 public:
  Parts(double delta, std::vector<Part>& parts) : delta_(delta), parts_(parts) {}

  // `ns`: B - A, of either sign. Returns what became a part.
  double add(std::string id, std::string title, double ns, std::string evidence) {
    if (std::abs(ns) <= kMinPart * std::abs(delta_)) return 0;
    parts_.push_back({std::move(id), std::move(title), ns, std::move(evidence)});
    return ns;
  }

 private:
  double delta_;
  std::vector<Part>& parts_;
};

// The quota keeps the caller waiting for a CPU as well: of its wait, as much as the quota can have caused. Held back on several
// CPUs at once, a call is held back once.
double throttled_wait(const signals::CallAccount& a, const signals::CallAccount& b, double wait) {
  const double cpus = std::max(1.0, std::round(b.process_cpu_ns.value_or(0) / b.wall_ns));
  const double throttled = change(a.throttled_ns, b.throttled_ns) / cpus;
  if (throttled == 0 || (throttled > 0) != (wait > 0)) return 0;
  return within(throttled, wait) ? throttled : wait;
}

void add_wait(const signals::CallAccount& a, const signals::CallAccount& b, Parts& parts) {
  const double wait = change(a.wait_ns, b.wait_ns), throttled = throttled_wait(a, b, wait);
  parts.add("cpu_throttling", "CPU quota throttling", throttled,
            fmt::format("throttled {} per call, summed over CPUs",
                        core::format_signed_duration(change(a.throttled_ns, b.throttled_ns))));
  parts.add("run_queue_wait", "waiting for a CPU", wait - throttled,
            fmt::format("caller runnable but waiting {} per call", core::format_signed_duration(wait)));
}

// What grew together with the sleep is evidence, not a part.
std::string sleep_evidence(const signals::CallAccount& a, const signals::CallAccount& b) {
  std::string evidence;
  if (const double others = change(a.others_wait_ns, b.others_wait_ns); others != 0)
    evidence += fmt::format("; total CPU wait of other threads {}", core::format_signed_duration(others));
  if (const double stops = change(a.stops, b.stops); stops != 0)
    evidence += fmt::format("; the process was stopped and continued {:+.3g} times per call (SIGSTOP)", stops);
  if (const double freezes = b.freezes.value_or(0) - a.freezes.value_or(0); freezes != 0)
    evidence += fmt::format("; its control group was frozen {:+.3g} times per call (freezer)", freezes);
  if (const double bytes = change(a.storage_bytes, b.storage_bytes); std::abs(bytes) >= 1)
    evidence += fmt::format("; {:+.4g} bytes of storage I/O", bytes);
  return evidence;
}

// Sleep by what it waited for, ns per call: the account's sleep, divided as the traced iterations were.
std::optional<std::array<double, scheduling::kSleepCauses>> sleep_by_cause(const Side& side) {
  std::array<double, scheduling::kSleepCauses> found{};
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto* metric = trace::find_metric(side.metrics, scheduling::metric_of(static_cast<scheduling::SleepCause>(i)));
    if (metric != nullptr) sum += found.at(i) = metric->value;  // sessions of older versions know fewer causes
  }
  constexpr auto kUnknown = static_cast<std::size_t>(scheduling::SleepCause::unknown);
  if (trace::find_metric(side.metrics, scheduling::metric_of(scheduling::SleepCause::unknown)) == nullptr) return std::nullopt;
  const double asleep = side.account->blocked_ns.value_or(0);
  if (!(sum > 0)) found = {}, found.at(kUnknown) = sum = 1;
  for (double& one : found) one *= asleep / sum;
  return found;
}

constexpr std::array<std::string_view, scheduling::kSleepCauses> kSleepTitles = {
    "caller asleep: awaited thread computing",
    "caller asleep: awaited thread waiting for a CPU",
    "caller asleep: I/O",
    "caller asleep: page faults",
    "caller asleep: lock",
    "caller asleep: timer or event",
    "process stopped",
    "process frozen",
    "caller asleep: awaited thread asleep",
    "caller asleep: socket, pipe or child process",
    "caller asleep (cause not recorded)"};

void add_sleep(const Side& a, const Side& b, Parts& parts) {
  const double asleep = change(a.account->blocked_ns, b.account->blocked_ns);
  const std::string with = sleep_evidence(*a.account, *b.account);
  const auto before = sleep_by_cause(a), after = sleep_by_cause(b);
  constexpr auto kUnknown = static_cast<std::size_t>(scheduling::SleepCause::unknown);
  if (!before || !after) {
    const bool stopped = change(a.account->stops, b.account->stops) * asleep > 0;
    const bool frozen = (b.account->freezes.value_or(0) - a.account->freezes.value_or(0)) * asleep > 0;
    parts.add("host_waiting",
              stopped  ? "caller asleep (the process was stopped)"
              : frozen ? "caller asleep (the process was frozen)"
                       : std::string(kSleepTitles.at(kUnknown)),
              asleep,
              fmt::format("caller asleep {} per call{}{}", core::format_signed_duration(asleep),
                          stopped || frozen ? "" : ", cause not recorded", with));
    return;
  }
  for (std::size_t i = 0; i < kUnknown; ++i)
    parts.add(fmt::format("host_waiting:{}", to_string(static_cast<scheduling::SleepCause>(i))), std::string(kSleepTitles.at(i)),
              after->at(i) - before->at(i),
              fmt::format("of {} per call asleep, by the scheduler's events{}", core::format_signed_duration(asleep), with));
  parts.add("host_waiting", std::string(kSleepTitles.at(kUnknown)), after->at(kUnknown) - before->at(kUnknown),
            fmt::format("no scheduler event tells the cause{}", with));
}

// Kernel time is known of all threads together. It is the caller's where the caller's CPU time grew by as much; otherwise the
// caller has its share of the process's CPU time, and at most what its own CPU time grew by: other threads fault as well.
double page_fault_time(const signals::CallAccount& a, const signals::CallAccount& b, double cpu) {
  const double faults = change(a.minor_faults, b.minor_faults) + change(a.major_faults, b.major_faults);
  const double system = change(a.system_ns, b.system_ns);
  if (std::abs(faults) < 1 || (faults > 0) != (system > 0)) return 0;
  if (within(system, cpu)) return system;
  const double process = b.process_cpu_ns.value_or(0);
  if (process <= 0 || (cpu > 0) != (system > 0)) return 0;
  const double of_caller = system * std::min(1.0, b.cpu_ns.value_or(0) / process);
  return std::abs(of_caller) < std::abs(cpu) ? of_caller : cpu;
}

// Kernel time that came without faults: system calls. Of the caller where its own CPU time grew by as much.
constexpr double kFewFaults = 0.1;       // of the kernel's time, at
constexpr double kUsualFaultNs = 1'000;  // each
double system_call_time(const signals::CallAccount& a, const signals::CallAccount& b, double cpu) {
  const double faults = change(a.minor_faults, b.minor_faults) + change(a.major_faults, b.major_faults);
  const double system = change(a.system_ns, b.system_ns);
  return within(system, cpu) && std::abs(faults) * kUsualFaultNs <= kFewFaults * std::abs(system) ? system : 0;
}

// Time of a call outside the model as the profiled pass saw it.
std::optional<double> around_model_ns(const Side& side) {
  const auto ratio = side.signals.get("host.around_ratio");
  return ratio ? std::optional(*ratio * side.call_ns) : std::nullopt;
}

struct NodeChange {
  std::string name;  // empty: between and around nodes
  double ns = 0;
};

std::map<std::string, double> by_operator(const Side& side) {
  std::map<std::string, double> times;
  for (const auto& one : side.nodes.operators) times[std::string(side.names->text(one.op_type))] += one.time.mean_ns;
  return times;
}

std::vector<NodeChange> node_changes(const Side& a, const Side& b) {
  std::vector<NodeChange> changes = {{"", b.nodes.parts->between_nodes.mean_ns - a.nodes.parts->between_nodes.mean_ns +
                                              b.nodes.parts->around_nodes.mean_ns - a.nodes.parts->around_nodes.mean_ns}};
  auto times_a = by_operator(a);
  for (const auto& [name, ns] : by_operator(b)) {
    changes.push_back({name, ns - times_a[name]});
    times_a.erase(name);
  }
  for (const auto& [name, ns] : times_a) changes.push_back({name, -ns});
  return changes;
}

// Divides `computing` as the profiled passes say, as far as they say so much. Returns what it divided.
double add_nodes(const Side& a, const Side& b, double computing, Parts& parts, std::optional<double>& narrowed) {
  const auto changes = node_changes(a, b);
  double net = 0, added = 0;
  for (const NodeChange& one : changes) net += one.ns;
  if (net == 0 || (net > 0) != (computing > 0)) return 0;
  const double scale = std::min(kProfileTolerance, computing / net);
  if (scale < kNarrowed) narrowed = scale;
  for (const NodeChange& one : changes) {
    const std::string evidence = fmt::format("{} in the profiled pass", core::format_signed_duration(one.ns));
    if (one.name.empty())
      added += parts.add("launch", "runtime overhead between and around nodes", one.ns * scale, evidence);
    else
      added += parts.add("node:" + one.name, "nodes of type " + one.name, one.ns * scale, evidence);
  }
  return added;
}

// The caller's CPU time: page faults, work around the model, nodes, and what none of these shows.
void add_computing(const Side& a, const Side& b, bool profiled, Parts& parts, std::optional<double>& narrowed) {
  const signals::CallAccount &before = *a.account, &after = *b.account;
  const double cpu = change(before.cpu_ns, after.cpu_ns), system = change(before.system_ns, after.system_ns);
  double rest = cpu;
  const double calls = system_call_time(before, after, cpu);
  rest -= parts.add("system_calls", "system calls", calls,
                    fmt::format("{} kernel time per call, hardly any page faults", core::format_signed_duration(system)));
  rest -= parts.add("page_faults", "page faults", calls != 0 ? 0 : page_fault_time(before, after, cpu),
                    fmt::format("{:+.3g} page faults and {} kernel time per call",
                                change(before.minor_faults, after.minor_faults) + change(before.major_faults, after.major_faults),
                                core::format_signed_duration(system)));
  const auto around_a = around_model_ns(a), around_b = around_model_ns(b);
  if (around_a && around_b) {
    const double around = *around_b - *around_a, sign = around < 0 ? -1 : 1;
    double running = sign * around;  // without what the caller did not run for
    for (const double other : {cpu - rest, change(before.blocked_ns, after.blocked_ns), change(before.wait_ns, after.wait_ns)})
      running -= std::max(0.0, sign * other);
    rest -=
        parts.add("host_computing", "host work outside the model", sign * std::clamp(running, 0.0, std::max(0.0, sign * rest)),
                  fmt::format("{} per call outside the model", core::format_signed_duration(around)));
  }
  const bool divided = profiled && std::abs(rest) > 0;
  if (divided) rest -= add_nodes(a, b, rest, parts, narrowed);
  parts.add("computing", divided ? "caller computing, not in the profile" : "caller computing", rest,
            fmt::format("caller running {} per call{}", core::format_signed_duration(cpu),
                        profiled ? "" : "; no profiled pass to break it down"));
}

bool counted(const Side& side) {
  return side.account && side.account->cpu_ns && side.account->wait_ns && side.account->blocked_ns;
}

}  // namespace

std::optional<Decomposition> decompose(const Side& a, const Side& b) {
  if (a.call_ns <= 0 || b.call_ns <= 0) return std::nullopt;
  Decomposition out;
  out.baseline_ns = a.call_ns;
  out.candidate_ns = b.call_ns;
  out.delta_ns = b.call_ns - a.call_ns;
  out.baseline_account = a.account;
  out.candidate_account = b.account;
  out.profiled = a.nodes.parts && b.nodes.parts && a.names != nullptr && b.names != nullptr;
  Parts parts(out.delta_ns, out.parts);
  if (a.of_median && b.of_median && !(counted(a) && counted(b))) {
    add_computing(a, b, out.profiled, parts, out.profile_scale);
  } else if (counted(a) && counted(b)) {
    add_wait(*a.account, *b.account, parts);
    add_sleep(a, b, parts);
    add_computing(a, b, out.profiled, parts, out.profile_scale);
  } else if (out.profiled) {
    add_nodes(a, b, out.delta_ns, parts, out.profile_scale);
  }
  out.unexplained_ns = out.delta_ns;
  for (const Part& part : out.parts) out.unexplained_ns -= part.ns;
  const double sign = out.delta_ns < 0 ? -1 : 1;
  std::stable_sort(out.parts.begin(), out.parts.end(), [&](const Part& x, const Part& y) { return sign * x.ns > sign * y.ns; });
  return out;
}

namespace {

core::Json account_json(const std::optional<signals::CallAccount>& account) {
  if (!account) return {};
  core::Json out = core::Json::object({{"wall_ns", account->wall_ns}});
  out.set_if("caller_cpu_ns", account->cpu_ns);
  out.set_if("caller_wait_ns", account->wait_ns);
  out.set_if("caller_asleep_ns", account->blocked_ns);
  out.set_if("unexplained_ns", account->unexplained_ns);
  out.set_if("machine_steal_ns", account->steal_ns);
  out.set_if("stops", account->stops);
  out.set_if("freezes", account->freezes);
  out.set_if("frozen_ns", account->frozen_ns);
  return std::move(out.set_if("others_wait_ns", account->others_wait_ns));
}

}  // namespace

core::Json to_json(const Decomposition& decomposition) {
  core::Json parts = core::Json::array();
  const auto share = [&](double ns) { return decomposition.delta_ns != 0 ? ns / decomposition.delta_ns : 0; };
  for (const Part& part : decomposition.parts)
    parts.push(core::Json::object({{"part", part.id},
                                   {"title", part.title},
                                   {"delta_ns", part.ns},
                                   {"share_ratio", share(part.ns)},
                                   {"evidence", part.evidence}}));
  core::Json out =
      core::Json::object({{"baseline_ns", decomposition.baseline_ns},
                          {"candidate_ns", decomposition.candidate_ns},
                          {"delta_ns", decomposition.delta_ns},
                          {"profiled", decomposition.profiled},
                          {"account", core::Json::object({{"baseline", account_json(decomposition.baseline_account)},
                                                          {"candidate", account_json(decomposition.candidate_account)}})},
                          {"parts", std::move(parts)},
                          {"unexplained_ns", decomposition.unexplained_ns},
                          {"unexplained_ratio", share(decomposition.unexplained_ns)}});
  return std::move(out.set_if("profile_scale_ratio", decomposition.profile_scale));
}

}  // namespace aaco::analytics::rootcause
