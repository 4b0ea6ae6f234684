#include "workflows/diff_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/recorded_time.h"
#include "core/numbers.h"
#include "workflows/compare/diff_rootcause.h"
#include "workflows/compare/record_cause.h"
#include "workflows/recorded_run.h"

namespace aaco::workflows {
namespace {

static_assert(kRunTime == analytics::regression::kRecordedTime);

constexpr double kCancelled = 0.05;  // of what the parts move in all: below, they cancel and none is the cause

struct Part {
  std::string_view name;
  double ns = 0;
};

std::string sentence(const Part& part, double total, const std::string& what) {
  const std::string share = total != 0 ? core::format_percent(part.ns / total) : std::string("none");
  if (part.name == "count")
    return fmt::format("the number of {} changed: {} per iteration, {} of the difference", what,
                       core::format_signed_duration(part.ns), share);
  if (part.name == "duration")
    return fmt::format("the mean duration of {} changed: {} per iteration, {} of the difference", what,
                       core::format_signed_duration(part.ns), share);
  return fmt::format("time outside the {} changed: {} per iteration, {} of the difference", what,
                     core::format_signed_duration(part.ns), share);
}

std::string advice(std::string_view part, bool slower) {
  if (!slower) return "no action needed: B is faster; approve it as the new baseline";
  if (part == "count") return "compare the graphs or kernel lists: the additional launches used to be fused or cached";
  if (part == "duration") return "inspect the kernels whose time changed most; a uniform slowdown points to clocks or memory";
  return "inspect the host side: scheduling, copies and synchronisation between calls ('aaco report' shows the gaps)";
}

// What was changed on purpose, where nothing measured says which part it moved.
std::optional<SuspectedCause> cause_of_change(const std::vector<hardware::Difference>& differences, bool slower) {
  std::string cause;
  for (const hardware::Difference& difference : differences)
    if (difference.severity == hardware::Severity::changed)
      cause += (cause.empty() ? "changed from A to B: " : "; ") + to_text(difference);
  if (cause.empty()) return std::nullopt;
  return SuspectedCause{std::move(cause),
                        slower ? "undo the change, or accept it: 'aaco baseline add NAME SESSION --replace'" : advice("", false),
                        {}};
}

core::Result<std::optional<SuspectedCause>> cause_of_parts(const ComparedSide& a, const ComparedSide& b,
                                                           const analytics::regression::MetricResult& decided,
                                                           const DiffEvidence& evidence,
                                                           const std::vector<hardware::Difference>& differences,
                                                           const Services& services) {
  AACO_ASSIGN(auto of_traces, cause_of_traces(a, b, decided, services));
  if (of_traces) return of_traces;
  AACO_ASSIGN(auto of_runs, cause_of_runs(a, b, decided, differences, services));
  if (of_runs) return of_runs;
  if (!evidence.count_part_ns || !evidence.duration_part_ns) return std::optional<SuspectedCause>();
  // Time between kernels is no part of the kernels' own time.
  const bool kernels_only = decided.id == "gpu.kernel_sum_ns";
  const std::array<Part, 3> parts = {{{"count", *evidence.count_part_ns},
                                      {"duration", *evidence.duration_part_ns},
                                      {"overhead", kernels_only ? 0 : evidence.overhead_part_ns.value_or(0)}}};
  const double total = parts[0].ns + parts[1].ns + parts[2].ns;
  const double moved = std::abs(parts[0].ns) + std::abs(parts[1].ns) + std::abs(parts[2].ns);
  if (std::abs(total) <= kCancelled * moved) return std::optional<SuspectedCause>();
  // The part that moves most in the direction of the whole.
  const auto& largest = *std::max_element(parts.begin(), parts.end(), [&](const Part& x, const Part& y) {
    return (total < 0 ? -x.ns : x.ns) < (total < 0 ? -y.ns : y.ns);
  });
  // Profiled passes that moved the other way say nothing of the measured ones.
  if ((total > 0) != (*decided.delta_ratio > 0)) return std::optional<SuspectedCause>();
  const std::string what = evidence.kernels_are == "gpu_kernels" ? "GPU kernels" : "graph nodes";
  return std::optional(SuspectedCause{sentence(largest, total, what), advice(largest.name, total > 0), {}});
}

}  // namespace

core::Result<std::optional<SuspectedCause>> suspect_cause(const ComparedSide& a, const ComparedSide& b,
                                                          const analytics::regression::MetricResult& decided,
                                                          const DiffEvidence& evidence,
                                                          const std::vector<hardware::Difference>& differences,
                                                          const Services& services) {
  if (decided.id == kRunTime && decided.delta_ratio && decided.verdict != stats::Verdict::equivalent) {
    AACO_ASSIGN(auto of_recordings, cause_of_recordings(a, b, decided, differences));
    if (of_recordings) return of_recordings;
    if (decided.verdict == stats::Verdict::regression)
      return std::optional(SuspectedCause{
          "what took the time is not recorded", "record both sides with 'aaco record --ebpf' and compare again", {}});
  }
  if ((decided.id == analytics::regression::kRecordedCpu || decided.id == analytics::regression::kRecordedOwn) &&
      decided.verdict != stats::Verdict::inconclusive && decided.verdict != stats::Verdict::equivalent) {
    AACO_ASSIGN(auto of_program, cause_of_own_times(a, b, decided, differences));
    if (of_program) return of_program;
  }
  const bool changed = decided.verdict == stats::Verdict::regression || decided.verdict == stats::Verdict::improvement;
  if (!changed || !decided.delta_ratio) return std::optional<SuspectedCause>();
  const bool slower = decided.verdict == stats::Verdict::regression;
  analytics::regression::MetricResult time = decided;
  if (decided.id == analytics::regression::kThroughput) {  // the mean time over again
    time.unit = "ns";
    time.delta_ratio = 1 / (1 + *decided.delta_ratio) - 1;
  }
  if (time.unit != "ns") return cause_of_change(differences, slower);
  AACO_ASSIGN(auto cause, cause_of_parts(a, b, time, evidence, differences, services));
  return cause ? std::move(cause) : cause_of_change(differences, slower);
}

}  // namespace aaco::workflows
