#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/rootcause.h"
#include "core/numbers.h"

namespace aaco::analytics::rootcause {
namespace {

constexpr double kProfileTolerance = 1.3;  // the profiled pass may tell this much less of a difference than the measured one has
constexpr double kMinPart = 0.005;         // of the difference; smaller parts are left together

double change(const std::optional<double>& a, const std::optional<double>& b) { return a && b ? *b - *a : 0; }

// Takes parts out of a difference until nothing is left: none may take more than there is, nor go the other way.
class Remainder {
 public:
  Remainder(double delta, std::vector<Part>& parts) : delta_(delta), left_(std::abs(delta)), parts_(parts) {}

  // `ns` as measured, B - A.
  double take(std::string id, std::string title, double ns, std::string evidence) {
    const double forward = delta_ < 0 ? -ns : ns;
    const double taken = std::min(forward, left_);
    if (taken <= kMinPart * std::abs(delta_)) return 0;
    left_ -= taken;
    parts_.push_back({std::move(id), std::move(title), delta_ < 0 ? -taken : taken, std::move(evidence)});
    return taken;
  }
  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double signed_left() const { return delta_ < 0 ? -left_ : left_; }

 private:
  double delta_, left_;
  std::vector<Part>& parts_;
};

// Time of a call outside the model as the profiled pass saw it.
std::optional<double> around_model_ns(const Side& side) {
  const auto ratio = side.signals.get("host.around_ratio");
  return ratio ? std::optional(*ratio * side.call_ns) : std::nullopt;
}

struct RunQueueWait {
  std::optional<double> caller_ns, others_ns;  // of a call
};

// As the scheduler's own events have it, interval by interval.
std::optional<RunQueueWait> watched_wait(const Side& side) {
  const auto* caller = trace::find_metric(side.metrics, "sched.caller_run_queue_ratio");
  const auto* process = trace::find_metric(side.metrics, "sched.process_run_queue_per_iteration_ns");
  if (caller == nullptr || process == nullptr) return std::nullopt;
  const double own = caller->value * side.call_ns;
  return RunQueueWait{own, std::max(0.0, process->value - own)};
}

void take_run_queue_wait(const Side& a, const Side& b, Remainder& rest) {
  const auto watched_a = watched_wait(a), watched_b = watched_wait(b);
  const bool watched = watched_a && watched_b;
  if (!watched && (!a.account || !b.account)) return;
  const RunQueueWait before = watched ? *watched_a : RunQueueWait{a.account->wait_ns, a.account->others_wait_ns};
  const RunQueueWait after = watched ? *watched_b : RunQueueWait{b.account->wait_ns, b.account->others_wait_ns};
  const double own = change(before.caller_ns, after.caller_ns), others = change(before.others_ns, after.others_ns);
  rest.take("run_queue_wait", "waiting for a CPU", own + others,
            fmt::format("runnable but waiting, per call: caller {}, other threads {}{}", core::format_signed_duration(own),
                        core::format_signed_duration(others), watched ? ", from scheduler events" : ""));
}

void take_throttling(const signals::CallAccount& a, const signals::CallAccount& b, Remainder& rest) {
  // Held back on several CPUs at once, a call is held back once.
  const double cpus = std::max(1.0, std::round(std::max(a.process_cpu_ns.value_or(0) / a.wall_ns, 1.0)));
  const double throttled = change(a.throttled_ns, b.throttled_ns) / cpus;
  rest.take("cpu_throttling", "CPU quota throttling", throttled,
            fmt::format("throttled {} per call", core::format_signed_duration(throttled)));
}

// What the kernel accounts to memory, storage and sleep. What the host does within calls is taken after these, so that it does
// not count twice.
double take_kernel_time(const signals::CallAccount& a, const signals::CallAccount& b, Remainder& rest) {
  double taken = 0;
  const double faults = change(a.minor_faults, b.minor_faults) + change(a.major_faults, b.major_faults);
  const double system = change(a.system_ns, b.system_ns);
  if (std::abs(faults) >= 1 && (faults > 0) == (system > 0))
    taken +=
        rest.take("page_faults", "page faults", system,
                  fmt::format("{:+.3g} page faults and {} kernel time per call", faults, core::format_signed_duration(system)));
  const double blocked = change(a.blocked_ns, b.blocked_ns);
  const double bytes = change(a.storage_bytes, b.storage_bytes);
  if (std::abs(bytes) >= 1 && (bytes > 0) == (blocked > 0))
    taken += rest.take(
        "storage", "waiting for storage", blocked,
        fmt::format("{:+.4g} bytes of storage I/O and {} asleep per call", bytes, core::format_signed_duration(blocked)));
  else
    taken += rest.take("host_waiting", "caller asleep", blocked,
                       fmt::format("asleep {} per call", core::format_signed_duration(blocked)));
  return taken;
}

struct NodeChange {
  std::string name;
  double ns = 0;
};

std::map<std::string, double> by_operator(const Side& side) {
  std::map<std::string, double> times;
  for (const auto& one : side.nodes.operators) times[std::string(side.names->text(one.op_type))] += one.time.mean_ns;
  return times;
}

// What is left is computing: divided as the profiled passes say, as far as they say so much.
void take_computing(const Side& a, const Side& b, double delta, Remainder& rest) {
  std::vector<NodeChange> changes = {{"", b.nodes.parts->between_nodes.mean_ns - a.nodes.parts->between_nodes.mean_ns +
                                              b.nodes.parts->around_nodes.mean_ns - a.nodes.parts->around_nodes.mean_ns}};
  auto times_a = by_operator(a);
  const auto times_b = by_operator(b);
  for (const auto& [name, ns] : times_b) {
    changes.push_back({name, ns - times_a[name]});
    times_a.erase(name);
  }
  for (const auto& [name, ns] : times_a) changes.push_back({name, -ns});
  double forward = 0;
  for (const NodeChange& one : changes) forward += std::max(0.0, delta < 0 ? -one.ns : one.ns);
  if (forward <= 0) return;
  const double scale = std::min(kProfileTolerance, rest.left() / forward);
  std::stable_sort(changes.begin(), changes.end(), [](const auto& x, const auto& y) { return std::abs(x.ns) > std::abs(y.ns); });
  for (const NodeChange& one : changes) {
    const std::string evidence = fmt::format("{} in the profiled pass", core::format_signed_duration(one.ns));
    if (one.name.empty())
      rest.take("launch", "runtime overhead between and around nodes", one.ns * scale, evidence);
    else
      rest.take("node:" + one.name, "nodes of type " + one.name, one.ns * scale, evidence);
  }
}

}  // namespace

std::optional<Decomposition> decompose(const Side& a, const Side& b) {
  if (a.call_ns <= 0 || b.call_ns <= 0) return std::nullopt;
  Decomposition out;
  out.baseline_ns = a.call_ns;
  out.candidate_ns = b.call_ns;
  out.delta_ns = b.call_ns - a.call_ns;
  Remainder rest(out.delta_ns, out.parts);
  double kernel = 0;
  if (a.account && b.account) take_throttling(*a.account, *b.account, rest);
  take_run_queue_wait(a, b, rest);
  if (a.account && b.account) {
    kernel = take_kernel_time(*a.account, *b.account, rest);
  }
  const auto around_a = around_model_ns(a), around_b = around_model_ns(b);
  if (around_a && around_b) {
    const double around = *around_b - *around_a;
    const double computing = around > 0 ? std::max(0.0, around - kernel) : std::min(0.0, around + kernel);
    rest.take("host_computing", "host work outside the model", computing,
              fmt::format("{} per call outside the model, {} of it asleep or in the kernel", core::format_signed_duration(around),
                          core::format_duration(kernel)));
  }
  out.profiled = a.nodes.parts && b.nodes.parts && a.names != nullptr && b.names != nullptr;
  if (out.profiled) {
    take_computing(a, b, out.delta_ns, rest);
  } else if (a.account && b.account) {
    const double running = change(a.account->cpu_ns, b.account->cpu_ns);
    rest.take("computing", "caller computing", running,
              fmt::format("running {} per call; no profiled pass to break it down", core::format_signed_duration(running)));
  }
  out.unexplained_ns = rest.signed_left();
  std::stable_sort(out.parts.begin(), out.parts.end(),
                   [](const Part& x, const Part& y) { return std::abs(x.ns) > std::abs(y.ns); });
  return out;
}

core::Json to_json(const Decomposition& decomposition) {
  core::Json parts = core::Json::array();
  const auto share = [&](double ns) { return decomposition.delta_ns != 0 ? ns / decomposition.delta_ns : 0; };
  for (const Part& part : decomposition.parts)
    parts.push(core::Json::object({{"part", part.id},
                                   {"title", part.title},
                                   {"delta_ns", part.ns},
                                   {"share_ratio", share(part.ns)},
                                   {"evidence", part.evidence}}));
  return core::Json::object({{"baseline_ns", decomposition.baseline_ns},
                             {"candidate_ns", decomposition.candidate_ns},
                             {"delta_ns", decomposition.delta_ns},
                             {"profiled", decomposition.profiled},
                             {"parts", std::move(parts)},
                             {"unexplained_ns", decomposition.unexplained_ns},
                             {"unexplained_ratio", share(decomposition.unexplained_ns)}});
}

}  // namespace aaco::analytics::rootcause
