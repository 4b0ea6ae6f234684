#include "workflows/compare/kernel_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/numbers.h"
#include "trace/kernel_name.h"

namespace aaco::workflows {
namespace {

using analytics::tracediff::CallChange;
using analytics::tracediff::CallVerdict;
using analytics::tracediff::KernelChange;
using core::Json;

constexpr std::size_t kMaxKernelName = 60;

// A kernel, or one grid of those that have several.
struct Candidate {
  const CallChange* change = nullptr;
  std::string kernel, grid;  // grid: empty for the kernel as a whole
};

bool is_decided(const CallChange& row) {
  const bool decided = row.verdict == CallVerdict::slower || row.verdict == CallVerdict::faster;
  return decided && (row.time_part_ns > 0) == (row.verdict == CallVerdict::slower);
}

std::vector<Candidate> candidates_of(const KernelChange& kernel) {
  if (kernel.grids.empty()) return {{&kernel, kernel.name, ""}};
  std::vector<Candidate> candidates;
  for (const auto& grid : kernel.grids) candidates.push_back({&grid, kernel.name, analytics::tracediff::to_string(grid.grid)});
  return candidates;
}

// Of the time of all kernels but the one that changed most: from this share on that changed beyond doubt in the same direction it
// is the device and no kernel; with less than kFewOthers of the kernel time beside that one nothing shows the device
// (analytics/rootcause/traces.cc).
constexpr double kMaxOthers = 0.6, kFewOthers = 0.05;

// Kernels that changed alike, most of them.
std::optional<SuspectedCause> alike(const analytics::tracediff::TraceDifference& difference, const std::string& most,
                                    bool slower) {
  double all = 0, others = 0, changed = 0, before = 0, after = 0;
  std::size_t count = 0;
  for (const KernelChange& kernel : difference.kernels) {
    all += kernel.a.per_step_ns;
    const bool same = kernel.verdict == (slower ? CallVerdict::slower : CallVerdict::faster);
    if (same) ++count, before += kernel.a.per_step_ns, after += kernel.a.per_step_ns + kernel.time_part_ns;
    if (kernel.name == most) continue;
    others += kernel.a.per_step_ns;
    if (same) changed += kernel.a.per_step_ns;
  }
  if (others < kFewOthers * all || changed < kMaxOthers * others || before <= 0) return std::nullopt;
  const std::string title = slower ? "most kernels slowed down alike" : "most kernels sped up alike";
  Json cause = Json::object({{"cause", "kernels_alike"}, {"title", title}, {"kernel_count", static_cast<std::int64_t>(count)}});
  return SuspectedCause{
      fmt::format("{}: {} of {} kernels, {} together; the device (clock, power, temperature), a driver or a library rather than "
                  "one kernel; the whole is inconclusive",
                  title, count, difference.kernels.size(), core::format_signed_percent(after / before - 1)),
      slower ? "compare the clocks, power and temperature of the device, its driver and libraries ('aaco record' samples them)"
             : "no action needed: these kernels are faster in B",
      Json::object({{"of", "kernel"}, {"causes", Json::array({std::move(cause)})}})};
}

}  // namespace

std::optional<SuspectedCause> decided_kernel(const analytics::tracediff::TraceDifference& difference, double threshold_ratio) {
  double kernels_ns = 0, slower_ns = 0, faster_ns = 0;
  std::optional<Candidate> found;
  for (const KernelChange& kernel : difference.kernels) {
    kernels_ns += kernel.a.per_step_ns;
    for (Candidate& one : candidates_of(kernel)) {
      if (!is_decided(*one.change)) continue;
      const double ns = one.change->time_part_ns;
      (ns > 0 ? slower_ns : faster_ns) += std::abs(ns);
      if (!found || std::abs(ns) > std::abs(found->change->time_part_ns)) found = std::move(one);
    }
  }
  if (!found || std::abs(found->change->time_part_ns) < threshold_ratio * kernels_ns) return std::nullopt;
  const CallChange& largest = *found->change;
  const bool slower = largest.verdict == CallVerdict::slower;
  // Some slower and others faster is no single cause.
  if (2 * (slower ? faster_ns : slower_ns) > (slower ? slower_ns : faster_ns)) return std::nullopt;
  if (auto device = alike(difference, found->kernel, slower)) return device;
  const std::string name = trace::short_kernel_name(found->kernel).substr(0, kMaxKernelName);
  Json cause = Json::object({{"cause", slower ? "slower_kernels" : "faster_kernels"},
                             {"title", slower ? "slower kernels" : "faster kernels"},
                             {"kernel", found->kernel}});
  if (!found->grid.empty()) cause.set("grid", found->grid);
  cause.set_if("p_holm", largest.p_holm);
  return SuspectedCause{
      fmt::format("{}{}: {} per call instead of {} ({}), {} per step; the whole is inconclusive", name,
                  found->grid.empty() ? "" : " at grid " + found->grid, core::format_duration(largest.b.mean_ns),
                  core::format_duration(largest.a.mean_ns), core::format_signed_percent(largest.call_ratio.value_or(0)),
                  core::format_signed_duration(largest.time_part_ns)),
      slower ? "find the library or shape change behind this kernel, and revert it"
             : "no action needed: this kernel is faster in B",
      Json::object({{"of", "kernel"}, {"causes", Json::array({std::move(cause)})}})};
}

}  // namespace aaco::workflows
