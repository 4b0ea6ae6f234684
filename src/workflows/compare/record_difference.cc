#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "workflows/compare/record_account.h"

namespace aaco::workflows {
namespace {

constexpr double kMinPart = 0.005;  // of the difference; smaller parts stay in unexplained
constexpr std::string_view kAsleepPart = "asleep:", kWaitingPart = "run_queue_wait", kThrottledPart = "cpu_throttling";
constexpr double kUsualFaultNs = 10'000;  // of kernel time at most: more than that, and faults do not explain it
constexpr double kManyFaults = 100;
constexpr double kMostlyWakes = 0.5;

const RecordAccount::Sleep& sleep_of(const RecordAccount& account, std::string_view id) {
  static const RecordAccount::Sleep none;
  const auto found = account.sleeps.find(std::string(id));
  return found != account.sleeps.end() ? found->second : none;
}

// " (fdatasync)": the system call in which most of the change was slept; empty where none is recorded, and where the words say
// it.
std::string in_call(std::string_view id, const RecordAccount& a, const RecordAccount& b, double ns) {
  constexpr double kMost = 0.5;
  for (const std::string_view held : {"stopped", "frozen", "tracer"})  // from outside, whatever the call
    if (ns == 0 || id.find(held) != std::string_view::npos) return {};
  const auto &before = sleep_of(a, id).calls, &after = sleep_of(b, id).calls;
  const auto of = [](const auto& calls, const std::string& call) { return calls.contains(call) ? calls.at(call) : 0.0; };
  for (const auto* side : {&before, &after})
    for (const auto& [call, slept] : *side)
      if (!call.empty() && (of(after, call) - of(before, call)) / ns >= kMost && id.find(call) == std::string_view::npos)
        return " (" + call + ")";
  return {};
}

// Waits for a CPU at the wake-ups that one side has more of, B - A.
double more_wakes_ns(std::string_view id, const RecordAccount& a, const RecordAccount& b) {
  const auto &before = sleep_of(a, id), &after = sleep_of(b, id);
  const double more = after.wakes - before.wakes;
  const RecordAccount::Sleep& most = more > 0 ? after : before;
  return most.wakes > 0 ? more * most.woken_ns / most.wakes : 0;
}

std::string title_of(std::string_view id, const RecordAccount& a, const RecordAccount& b, double ns) {
  if (id == "computing") return "computing";
  if (id == kWaitingPart) return "waiting for a CPU";
  if (id == kThrottledPart) return "CPU quota throttling";
  if (id == "kernel") {
    const double faults = b.faults - a.faults;
    const bool of_faults = std::abs(faults) >= kManyFaults && (faults > 0) == (ns > 0) && ns / faults <= kUsualFaultNs;
    return of_faults ? "kernel time: page faults" : "kernel time: system calls";
  }
  return "asleep: " + std::string(id.substr(kAsleepPart.size())) + in_call(id, a, b, ns);
}

// "of it +2.10 s in python3 (a child process or thread)"
std::string of_threads(const RecordAccount& a, const RecordAccount& b, double ns) {
  std::string name;
  double most = 0;
  for (const auto& [thread, after] : b.threads) {
    const auto before = a.threads.find(thread);
    const double grown = after - (before != a.threads.end() ? before->second : 0);
    if ((grown > 0) == (ns > 0) && std::abs(grown) > std::abs(most)) most = grown, name = thread;
  }
  constexpr double kNamed = 0.5;
  return std::abs(most) >= kNamed * std::abs(ns) ? fmt::format(", most of it in {} (a child process or thread)", name)
                                                 : std::string();
}

std::string evidence_of(std::string_view id, const RecordAccount& a, const RecordAccount& b, double before, double after) {
  std::string text = fmt::format("{} instead of {} of the run", core::format_duration(after), core::format_duration(before));
  if (id == "computing") return text + of_threads(a, b, after - before);
  const double wakes = sleep_of(b, id).wakes - sleep_of(a, id).wakes;
  if (id.starts_with(kAsleepPart) && std::abs(wakes) >= 1)
    return text + fmt::format(", and {} for a CPU at {} {} wake-ups", core::format_signed_duration(more_wakes_ns(id, a, b)),
                              core::format_count(std::round(std::abs(wakes))), wakes > 0 ? "more" : "fewer");
  if (id == "kernel")
    return text + fmt::format(", {} page faults instead of {}; divided from user time as the CPU time of the whole program is",
                              core::format_count(std::round(b.faults)), core::format_count(std::round(a.faults)));
  return text;
}

}  // namespace

analytics::rootcause::Decomposition decompose(const RecordAccount& a, const RecordAccount& b) {
  analytics::rootcause::Decomposition out;
  out.baseline_ns = a.wall_ns;
  out.candidate_ns = b.wall_ns;
  out.delta_ns = out.unexplained_ns = b.wall_ns - a.wall_ns;
  std::map<std::string, std::pair<double, double>> parts;
  for (const auto& [id, ns] : a.parts) parts[id].first = ns;
  for (const auto& [id, ns] : b.parts) parts[id].second = ns;
  const bool throttled = parts.contains(std::string(kThrottledPart));  // its waits are not told from those at wake-ups
  std::map<std::string, double> of_wakes;
  double all_wakes = 0;
  if (!throttled && parts.contains(std::string(kWaitingPart)))
    for (const auto& [id, ns] : parts)
      if (id.starts_with(kAsleepPart)) all_wakes += of_wakes[id] = more_wakes_ns(id, a, b);
  of_wakes[std::string(kWaitingPart)] = -all_wakes;
  for (const auto& [id, ns] : parts) {
    const double slept = ns.second - ns.first, grown = slept + of_wakes[id];
    if (std::abs(grown) <= kMinPart * std::abs(out.delta_ns)) continue;
    const bool mostly_wakes = id.starts_with(kAsleepPart) && std::abs(of_wakes[id]) >= kMostlyWakes * std::abs(grown);
    out.parts.push_back({id, title_of(id, a, b, slept) + (mostly_wakes ? ", then waiting for a CPU at its wake-ups" : ""), grown,
                         evidence_of(id, a, b, ns.first, ns.second)});
    out.unexplained_ns -= grown;
  }
  const double sign = out.delta_ns < 0 ? -1 : 1;
  std::stable_sort(out.parts.begin(), out.parts.end(), [&](const auto& x, const auto& y) { return sign * x.ns > sign * y.ns; });
  return out;
}

}  // namespace aaco::workflows
