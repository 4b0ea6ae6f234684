#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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
const std::string kDependency = "dependency_bound";

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

// Idle time that grew in the direction of the whole: by activity of the host, dependency_bound where launched work was held back,
// what is neither under `other`.
std::map<std::string, double> idle_weights(const TraceSide& a, const TraceSide& b, double sign, const std::string& other) {
  const Titles activities = joined(a.activities, b.activities), held = joined(a.held, b.held);
  std::map<std::string, double> weights;
  const auto add = [&](const TraceSide& side, double factor) {
    for (const auto& [cause, ns] : side.idle_ns)
      weights[activities.contains(cause) ? cause : held.contains(cause) ? kDependency : other] += factor * ns;
  };
  add(b, sign);
  add(a, -sign);
  return weights;
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
  if (id == "more_launches") return slower ? "more launches" : "fewer launches";
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
  const Titles held = joined(a.held, b.held);
  for (const auto& [cause, ns] : idle) {
    const double before = idle_of(a, cause), after = idle_of(b, cause);
    const std::string name = core::replace_all(cause, "_", " ");
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
  const Titles activities = joined(a.activities, b.activities);
  std::map<std::string, double> weights = idle_weights(a, b, sign, launches ? "more_launches" : "host_waiting");
  weights["copy_bound"] = sign * (b.exposed_copy_ns - a.exposed_copy_ns);
  weights["communication_bound"] = sign * (b.exposed_collective_ns - a.exposed_collective_ns);
  if (launches) {
    weights["more_launches"] += compute;
  } else {
    const double device = sums.of_device();
    weights[clock_explains(a, b, b.compute_ns - a.compute_ns) ? "clock_throttling" : "kernels_alike"] += device * compute;
    weights[sign > 0 ? "slower_kernels" : "faster_kernels"] += (1 - device) * compute;
  }
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
    const auto activity = activities.find(id);
    const std::string title = activity == activities.end() ? title_of(id, kind, sign > 0)
                              : sign > 0                   ? activity->second
                                                           : "less time in " + activity->second;
    Cause cause{id, title, weight / sum, weight / std::abs(decomposition.delta_ns), {seen}};
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
