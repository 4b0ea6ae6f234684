#include "analytics/gpu_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::analytics::bottleneck {
namespace {

constexpr double kMostlyMicrokernels = 0.5;
constexpr double kManyCopies = 0.25;  // of all work: issuing copies and fills counts as launching (our own judgement)

std::int64_t idle_of(const std::map<gaps::Cause, gaps::CauseSum>& gaps, gaps::Cause cause) {
  const auto found = gaps.find(cause);
  return found == gaps.end() ? 0 : found->second.idle_ns;
}

// Whether small pieces of work are most of all, and copies and fills many of them.
bool issues_copies(const trace_time::DeviceTime& time) {
  const auto works = static_cast<double>(time.kernel_count + time.copy_count);
  return static_cast<double>(time.microcopy_count) >= kManyCopies * works &&
         static_cast<double>(time.microkernel_count + time.microcopy_count) > kMostlyMicrokernels * works;
}

GpuLimitShares shares_of(const trace_time::DeviceTime& time, const std::map<gaps::Cause, gaps::CauseSum>& gaps) {
  const auto span = static_cast<double>(time.span_ns);
  const bool copies = issues_copies(time);
  const bool micro =
      copies || static_cast<double>(time.microkernel_count) > kMostlyMicrokernels * static_cast<double>(time.kernel_count);
  std::int64_t explained = 0, warmup = 0, held = 0, issue = 0;
  for (const auto& [cause, sum] : gaps) {
    explained += sum.idle_ns;
    warmup += sum.warmup_ns;
    held += sum.held_ns;
    if (cause == gaps::Cause::copy) issue += sum.issue_ns;
  }
  const std::int64_t small = std::max<std::int64_t>(0, time.idle_ns - explained);
  // One call that something else holds up is no launch rate.
  const auto latency = gaps.find(gaps::Cause::launch_latency);
  const std::int64_t blocked = latency == gaps.end() ? 0 : latency->second.blocked_ns;
  std::int64_t launch = idle_of(gaps, gaps::Cause::launch_latency) - blocked + (micro ? small : 0);
  // A host that is late by little between microkernels is late because it launches them one by one.
  if (const auto late = gaps.find(gaps::Cause::host_late); micro && late != gaps.end()) launch += late->second.short_idle_ns;
  if (copies) launch += issue;
  GpuLimitShares shares;
  shares.compute = static_cast<double>(time.compute_ns) / span;
  shares.communication = static_cast<double>(time.exposed_collective_ns) / span;
  shares.copy = static_cast<double>(time.exposed_copy_ns) / span;
  shares.launch = static_cast<double>(launch) / span;
  shares.warmup = static_cast<double>(warmup) / span;
  shares.held = static_cast<double>(held) / span;
  shares.waiting = static_cast<double>(std::max<std::int64_t>(0, time.idle_ns - launch - warmup - held)) / span;
  return shares;
}

void add_evidence(const trace_time::DeviceTime& time, const std::map<gaps::Cause, gaps::CauseSum>& gaps,
                  GpuLimitFinding& finding) {
  const auto say = [&](std::string_view what, double share) {
    finding.evidence.push_back(fmt::format("{}: {} of the span", what, core::format_percent(share)));
  };
  say("compute kernels running", finding.shares.compute);
  say("exposed collectives", finding.shares.communication);
  say("exposed copies", finding.shares.copy);
  if (finding.shares.warmup > 0) say("idle, warm-up inside the trace (loading or compiling code)", finding.shares.warmup);
  if (finding.shares.held > 0) say("idle, the next work launched and held back on the device", finding.shares.held);
  for (const auto& [cause, sum] : gaps)
    say(fmt::format("idle, {} ({} gaps)", core::replace_all(std::string(gaps::to_string(cause)), "_", " "), sum.gap_count),
        static_cast<double>(sum.idle_ns) / static_cast<double>(time.span_ns));
  if (time.kernel_count > 0)
    finding.evidence.push_back(fmt::format("{} of {} kernels are shorter than 10 µs", time.microkernel_count, time.kernel_count));
}

}  // namespace

std::string_view to_string(GpuLimit limit) {
  constexpr std::array<std::string_view, 8> kNames = {"none",   "compute", "communication", "copy",
                                                      "launch", "waiting", "warmup",        "held"};
  return kNames[static_cast<std::size_t>(limit)];
}

GpuLimitFinding find_limit(const trace_time::DeviceTime& time, const std::map<gaps::Cause, gaps::CauseSum>& gaps) {
  GpuLimitFinding finding;
  if (time.span_ns <= 0) return finding;
  finding.shares = shares_of(time, gaps);
  std::array<std::pair<double, GpuLimit>, 6> limits = {{{finding.shares.communication, GpuLimit::communication},
                                                        {finding.shares.copy, GpuLimit::copy},
                                                        {finding.shares.launch, GpuLimit::launch},
                                                        {finding.shares.waiting, GpuLimit::waiting},
                                                        {finding.shares.warmup, GpuLimit::warmup},
                                                        {finding.shares.held, GpuLimit::held}}};
  std::stable_sort(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (limits[0].first >= kMinLimitShare) {
    finding.limit = limits[0].second;
    finding.confidence = std::clamp((limits[0].first - limits[1].first) / limits[0].first, 0.0, 1.0);
  } else {
    finding.limit = GpuLimit::compute;
    finding.confidence =
        std::clamp((finding.shares.compute - limits[0].first) / std::max(finding.shares.compute, limits[0].first), 0.0, 1.0);
  }
  // Idle time that nothing explains may be anything.
  if (finding.limit == GpuLimit::waiting) {
    const double unknown = static_cast<double>(idle_of(gaps, gaps::Cause::unknown)) / static_cast<double>(time.span_ns);
    finding.confidence *= std::clamp(1 - unknown / finding.shares.waiting, 0.0, 1.0);
  }
  add_evidence(time, gaps, finding);
  return finding;
}

}  // namespace aaco::analytics::bottleneck
