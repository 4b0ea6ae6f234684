#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/step_time.h"
#include "analytics/trace_cause.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::analytics::rootcause {
namespace {

constexpr double kSlower = 0.03;  // a kernel's mean time changed by more than this did change
// Of the time of all kernels but the one that changed most: if so much of it changed the same way it is the device, not a kernel.
constexpr double kMaxOthers = 0.6;
constexpr double kFewOthers = 0.05;     // of the kernel time: with so little beside one kernel nothing shows the device
constexpr double kClockMoved = 0.01;    // a mean clock that changed by more than this did change
constexpr double kMoreLaunches = 1.15;  // kernels of B over those of A, from which on launching is to blame
constexpr std::size_t kNamedKernels = 5;
constexpr double kMajorShare = 0.5;  // of idle time without an activity: the cause that makes up so much of it names it
const std::string kDependency = "dependency_bound", kHostWaits = "host_waiting", kLaunches = "more_launches",
                  kNoHost = "idle_unknown", kNewKernels = "new_kernels", kSilence = "unknown";

double idle_of(const TraceSide& side, const std::string& cause) {
  const auto found = side.idle_ns.find(cause);
  return found == side.idle_ns.end() ? 0 : found->second;
}

struct KernelSums {
  double count_a = 0, count_b = 0, sum_a = 0, sum_b = 0;
  double slower_ns = 0, faster_ns = 0;  // time in A of the kernels whose mean grew, fell
  double most_changed_ns = 0;           // time in A of the kernel whose time changed most in the direction of the whole
  double others_alike_ns = 0;           // of the others, of those whose mean changed in that direction
  // Whether the kernels changed alike: 1, else 0. With only one kernel it is that kernel.
  [[nodiscard]] double of_device() const {
    const double others = sum_a - most_changed_ns;
    if (others < kFewOthers * sum_a) return 0;
    return others_alike_ns >= kMaxOthers * others ? 1 : 0;
  }
};

KernelSums sums_of(const TraceSide& a, const TraceSide& b) {
  KernelSums sums;
  for (const auto& [name, kernel] : a.kernels) sums.count_a += kernel.count, sums.sum_a += kernel.sum_ns;
  for (const auto& [name, kernel] : b.kernels) sums.count_b += kernel.count, sums.sum_b += kernel.sum_ns;
  const double sign = sums.sum_b < sums.sum_a ? -1 : 1;
  double most = 0;
  bool most_alike = false;
  for (const auto& [name, kernel] : a.kernels) {
    const auto other = b.kernels.find(name);
    if (other == b.kernels.end() || kernel.count <= 0 || other->second.count <= 0 || kernel.sum_ns <= 0) continue;
    const double ratio = (other->second.sum_ns / other->second.count) / (kernel.sum_ns / kernel.count);
    if (ratio > 1 + kSlower) sums.slower_ns += kernel.sum_ns;
    if (ratio < 1 - kSlower) sums.faster_ns += kernel.sum_ns;
    const bool alike = sign * (ratio - 1) > kSlower;
    if (alike) sums.others_alike_ns += kernel.sum_ns;
    if (const double change = sign * (other->second.sum_ns - kernel.sum_ns); change > most) {
      most = change;
      most_alike = alike;
      sums.most_changed_ns = kernel.sum_ns;
    }
  }
  if (most_alike) sums.others_alike_ns -= sums.most_changed_ns;
  return sums;
}

// What the sum of kernel times changed by: kernels that one side does not run, and of the others the number and the length of
// calls.
struct KernelParts {
  double new_ns = 0, calls_ns = 0, length_ns = 0;
};

KernelParts parts_of(const TraceSide& a, const TraceSide& b) {
  KernelParts parts;
  for (const auto& [name, after] : b.kernels) {
    const auto before = a.kernels.find(name);
    if (before == a.kernels.end() || before->second.count <= 0 || after.count <= 0) {
      parts.new_ns += after.sum_ns;
      continue;
    }
    const double mean = before->second.sum_ns / before->second.count;
    parts.calls_ns += (after.count - before->second.count) * mean;
    parts.length_ns += after.sum_ns - after.count * mean;
  }
  for (const auto& [name, before] : a.kernels)
    if (const auto after = b.kernels.find(name); after == b.kernels.end() || before.count <= 0 || after->second.count <= 0)
      parts.new_ns -= before.sum_ns;
  return parts;
}

// Computing time is a union, kernels' times are a sum: each kernel has its share of what the union changed by.
void add_kernels(const TraceSide& a, const TraceSide& b, Decomposition& out) {
  const double compute = b.compute_ns - a.compute_ns;
  std::vector<std::pair<std::string, double>> changes;
  double sum = 0;
  for (const auto& [name, kernel] : b.kernels) {
    const auto before = a.kernels.find(name);
    changes.emplace_back(name, kernel.sum_ns - (before == a.kernels.end() ? 0 : before->second.sum_ns));
  }
  for (const auto& [name, kernel] : a.kernels)
    if (!b.kernels.contains(name)) changes.emplace_back(name, -kernel.sum_ns);
  for (const auto& [name, ns] : changes) sum += ns;
  if (sum == 0 || (sum > 0) != (compute > 0)) {
    out.unexplained_ns += compute;
    return;
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.second) > std::abs(y.second); });
  double rest = compute;
  for (std::size_t i = 0; i < std::min(kNamedKernels, changes.size()); ++i) {
    const double ns = changes[i].second / sum * compute;
    if (ns == 0) continue;
    rest -= ns;
    const auto before = a.kernels.find(changes[i].first);
    const auto after = b.kernels.find(changes[i].first);
    out.parts.push_back(
        {"kernel:" + changes[i].first, changes[i].first, ns,
         fmt::format("{:.4g} calls instead of {:.4g}, {} instead of {} in total",
                     after == b.kernels.end() ? 0 : after->second.count, before == a.kernels.end() ? 0 : before->second.count,
                     core::format_duration(after == b.kernels.end() ? 0 : after->second.sum_ns),
                     core::format_duration(before == a.kernels.end() ? 0 : before->second.sum_ns))});
  }
  if (rest != 0)
    out.parts.push_back(
        {"kernels", "other kernels", rest, fmt::format("{} kernels", changes.size() - std::min(kNamedKernels, changes.size()))});
}

// Whether the recorded clocks moved as kernel time that changed by `compute_ns` would need.
bool clock_explains(const TraceSide& a, const TraceSide& b, double compute_ns) {
  if (!a.clock_hz || !b.clock_hz || *a.clock_hz <= 0) return false;
  const double change = *b.clock_hz / *a.clock_hz - 1;
  return compute_ns > 0 ? change < -kClockMoved : change > kClockMoved;
}

using Titles = std::map<std::string, std::string>;

Titles joined(Titles a, const Titles& b) {
  a.insert(b.begin(), b.end());
  return a;
}

// Whether a side's idle time says anything of the host.
bool knows_host(const TraceSide& side) {
  return std::any_of(side.idle_ns.begin(), side.idle_ns.end(), [](const auto& one) {
    return one.second > 0 && one.first != kSilence && one.first != trace_time::kShortGaps &&
           one.first != trace_time::kOutsideWork;
  });
}

using Weights = std::map<std::string, double>;

// Idle time that is no activity is named by the cause of the book that makes up most of it.
void name_host_waits(Weights& weights, const Weights& parts, const Titles& titles) {
  const auto whole = weights.find(kHostWaits);
  if (whole == weights.end() || whole->second <= 0) return;
  for (const auto& [cause, ns] : parts)
    if (ns >= kMajorShare * whole->second && titles.contains(cause)) {
      const double weight = whole->second;
      weights.erase(whole);
      weights[cause] += weight;
      return;
    }
}

// Idle time that grew in the direction of the whole: by activity of the host, dependency_bound where launched work was held back;
// what is neither belongs to more launches, where there are (`launches`), else to the host as far as it was recorded.
Weights idle_weights(const TraceSide& a, const TraceSide& b, double sign, bool launches) {
  const Titles activities = joined(a.activities, b.activities), held = joined(a.held, b.held);
  const bool recorded = knows_host(sign > 0 ? b : a);
  Weights weights, parts;  // parts: of host_waiting
  const auto add = [&](const TraceSide& side, double factor) {
    for (const auto& [cause, ns] : side.idle_ns) {
      const bool host = recorded && cause != kSilence;
      const std::string& id = activities.contains(cause) ? cause
                              : held.contains(cause)     ? kDependency
                              : launches                 ? kLaunches
                              : host                     ? kHostWaits
                                                         : kNoHost;
      weights[id] += factor * ns;
      if (id == kHostWaits) parts[cause] += factor * ns;
    }
  };
  add(b, sign);
  add(a, -sign);
  name_host_waits(weights, parts, joined(a.titles, b.titles));
  return weights;
}

// Time in which kernels computed, `compute` in the direction of the whole, by what changed of the kernels.
void add_compute(const TraceSide& a, const TraceSide& b, double sign, double compute, const KernelSums& sums, Weights& weights) {
  KernelParts parts = parts_of(a, b);
  for (double* part : {&parts.new_ns, &parts.calls_ns, &parts.length_ns}) *part = std::max(0.0, sign * *part);
  const double all = parts.new_ns + parts.calls_ns + parts.length_ns;
  const double length = all > 0 ? parts.length_ns / all * compute : compute;
  if (all > 0) {
    weights[kNewKernels] += parts.new_ns / all * compute;
    weights[kLaunches] += parts.calls_ns / all * compute;
  }
  const double device = sums.of_device();
  weights[clock_explains(a, b, b.compute_ns - a.compute_ns) ? "clock_throttling" : "kernels_alike"] += device * length;
  weights[sign > 0 ? "slower_kernels" : "faster_kernels"] += (1 - device) * length;
}

// The held-back causes that changed in the direction of the whole, the largest first.
std::vector<std::string> held_evidence(const TraceSide& a, const TraceSide& b, double sign) {
  std::vector<std::pair<double, std::string>> changes;
  for (const auto& [cause, title] : joined(a.held, b.held)) {
    const double before = idle_of(a, cause), after = idle_of(b, cause);
    if (sign * (after - before) > 0)
      changes.emplace_back(sign * (after - before), fmt::format("{}: {} instead of {}", title, core::format_duration(after),
                                                                core::format_duration(before)));
  }
  std::sort(changes.rbegin(), changes.rend());
  std::vector<std::string> texts;
  for (auto& [ns, text] : changes) texts.push_back(std::move(text));
  return texts;
}

std::string title_of(const std::string& id, const bottleneck::BottleneckClass* kind, bool slower) {
  if (id == kNewKernels) return slower ? "kernels that A does not run" : "kernels that B does not run";
  if (id == kNoHost) return (slower ? "" : "less ") + std::string("idle time of unknown cause (no host events in the trace)");
  if (id == kLaunches) return slower ? "more launches" : "fewer launches";
  if (id == "slower_kernels") return "slower kernels";
  if (id == "faster_kernels") return "faster kernels";
  if (id == "kernels_alike") return slower ? "most kernels slowed down alike" : "most kernels sped up alike";
  if (id == "clock_throttling" && !slower) return "higher clock";
  const std::string title = kind != nullptr ? kind->title : id;
  return slower ? title : "less time in " + title;
}

}  // namespace

Decomposition decompose_traces(const TraceSide& a, const TraceSide& b) {
  Decomposition out;
  out.baseline_ns = a.span_ns;
  out.candidate_ns = b.span_ns;
  out.delta_ns = b.span_ns - a.span_ns;
  out.profiled = true;
  const auto add = [&](std::string id, std::string title, double before, double after) {
    if (before == after) return;
    out.parts.push_back({std::move(id), std::move(title), after - before,
                         fmt::format("{} instead of {}", core::format_duration(after), core::format_duration(before))});
  };
  double known = b.compute_ns - a.compute_ns;
  const auto both = [&](double before, double after) { known += after - before; };
  add("copies", "exposed copies", a.exposed_copy_ns, b.exposed_copy_ns);
  both(a.exposed_copy_ns, b.exposed_copy_ns);
  add("communication", "exposed collectives", a.exposed_collective_ns, b.exposed_collective_ns);
  both(a.exposed_collective_ns, b.exposed_collective_ns);
  auto idle = a.idle_ns;
  for (const auto& [cause, ns] : b.idle_ns) idle.emplace(cause, 0);
  const Titles held = joined(a.held, b.held), titles = joined(a.titles, b.titles);
  for (const auto& [cause, ns] : idle) {
    const double before = idle_of(a, cause), after = idle_of(b, cause);
    const auto title = titles.find(cause);
    const std::string name = title != titles.end() ? title->second : core::replace_all(cause, "_", " ");
    add("idle:" + cause, (held.contains(cause) ? "idle, held back on the device, " : "idle, ") + name, before, after);
    both(before, after);
  }
  out.unexplained_ns = out.delta_ns - known;
  add_kernels(a, b, out);
  std::stable_sort(out.parts.begin(), out.parts.end(),
                   [](const Part& x, const Part& y) { return std::abs(x.ns) > std::abs(y.ns); });
  return out;
}

std::vector<Cause> find_trace_causes(const TraceSide& a, const TraceSide& b, const Decomposition& decomposition,
                                     const bottleneck::RuleBook& book) {
  if (decomposition.delta_ns == 0) return {};
  const double sign = decomposition.delta_ns < 0 ? -1 : 1;
  const KernelSums sums = sums_of(a, b);
  const double compute = sign * (b.compute_ns - a.compute_ns);
  const bool launches =
      sums.count_a > 0 && sums.count_b > 0 && std::max(sums.count_b / sums.count_a, sums.count_a / sums.count_b) >= kMoreLaunches;
  const Titles activities = joined(a.activities, b.activities), titles = joined(activities, joined(a.titles, b.titles));
  Weights weights = idle_weights(a, b, sign, launches);
  weights["copy_bound"] = sign * (b.exposed_copy_ns - a.exposed_copy_ns);
  weights["communication_bound"] = sign * (b.exposed_collective_ns - a.exposed_collective_ns);
  if (launches)
    weights[kLaunches] += compute;
  else
    add_compute(a, b, sign, compute, sums, weights);
  double sum = 0;
  for (auto& [id, weight] : weights) sum += weight = std::max(0.0, weight);
  std::vector<Cause> causes;
  const std::string seen = fmt::format(
      "{:.4g} kernels instead of {:.4g}; {} of the kernel time is in kernels that became slower, {} in kernels that became "
      "faster",
      sums.count_b, sums.count_a, core::format_percent(sums.sum_a > 0 ? sums.slower_ns / sums.sum_a : 0),
      core::format_percent(sums.sum_a > 0 ? sums.faster_ns / sums.sum_a : 0));
  for (const auto& [id, weight] : weights) {
    if (weight <= 0) continue;
    const auto* kind = book.find(id);
    const auto known = titles.find(id);
    const std::string title = known == titles.end() ? title_of(id, kind, sign > 0)
                              : sign > 0            ? known->second
                                                    : "less time in " + known->second;
    Cause cause{id, title, weight / sum, weight / std::abs(decomposition.delta_ns), {seen}};
    if (const bool of_host_waits = known != titles.end() && !activities.contains(id); of_host_waits) {
      cause.id = kHostWaits;
      cause.title = (sign > 0 ? "host waits: " : "less time in host waits: ") + known->second;
    }
    if (id == "clock_throttling")
      cause.evidence.push_back(
          fmt::format("mean clock {:.4g} MHz instead of {:.4g} MHz", *b.clock_hz * 1e-6, *a.clock_hz * 1e-6));
    if (id == "kernels_alike")
      cause.evidence.emplace_back(a.clock_hz && b.clock_hz
                                      ? "the recorded clock does not explain it"
                                      : "clocks were not recorded on both sides, so their effect is unknown");
    if (id == kDependency)
      for (std::string& held : held_evidence(a, b, sign)) cause.evidence.push_back(std::move(held));
    for (std::size_t i = 0; i < std::min<std::size_t>(3, decomposition.parts.size()); ++i)
      cause.evidence.push_back(decomposition.parts[i].title + ": " + decomposition.parts[i].evidence);
    causes.push_back(std::move(cause));
  }
  std::stable_sort(causes.begin(), causes.end(), [](const auto& x, const auto& y) { return x.probability > y.probability; });
  return causes;
}

}  // namespace aaco::analytics::rootcause
