#include "analytics/timeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace aaco::analytics::trace_time {
namespace {

// Ids of one process fall now and then, where streams overlap; those of merged runs fall about every other time.
constexpr double kFallingIds = 0.2;
constexpr std::int64_t kMinIdPairs = 16;
// Launches without work: recorded into a graph, or nobody traced their kernels.
constexpr std::int64_t kLaunchesPerWork = 5, kMinRecorded = 50;
constexpr std::int64_t kBetweenRunsNs = 1'000'000'000;
constexpr double kKernelsOnlyIdle = 0.2;  // idle time that nothing can explain (our own judgement)

constexpr double kMinHoles = 0.05;  // of a rank's span, that its recording leaves out (the same)
constexpr double kLostWork = 0.05;  // of the launches or kernels of a file that ends early (the same)

// A file that ends early has lost what stood behind the cut: the work of launches that are still in it, or the launches of work.
std::optional<NoTimeline> lost_by_cut(const TimelineFacts& facts) {
  if (!facts.is_cut || !facts.has_host_events) return std::nullopt;
  const auto lost = [](std::int64_t part, std::int64_t whole) {
    return static_cast<double>(whole - part) > kLostWork * static_cast<double>(whole);
  };
  const char* const rest =
      ". What the device did is not known after the first of them: export the trace again, or copy the complete file";
  if (lost(facts.kernel_count, facts.launch_count))
    return NoTimeline{"cut-file", fmt::format("the file is truncated, and the kernels of {} of its {} launches are missing{}",
                                              facts.launch_count - facts.kernel_count, facts.launch_count, rest)};
  if (facts.linked_count > 0 && lost(facts.linked_count, facts.kernel_count))
    return NoTimeline{"cut-file", fmt::format("the file is truncated, and the launches of {} of its {} kernels are missing: what "
                                              "the host did meanwhile is not known. Export the trace again, or copy the complete "
                                              "file",
                                              facts.kernel_count - facts.linked_count, facts.kernel_count)};
  return std::nullopt;
}

// Ranks of one job run at the same time. Those that communicate are of one job, though their hosts' clocks may differ.
bool are_apart(std::vector<RankSpan> ranks) {
  if (ranks.size() < 2) return false;
  std::sort(ranks.begin(), ranks.end(), [](const RankSpan& a, const RankSpan& b) { return a.start_ns < b.start_ns; });
  for (std::size_t i = 1; i < ranks.size(); ++i)
    if (ranks[i].start_ns < ranks[i - 1].end_ns) return false;
  return true;
}

// Processes of one program overlap in time. Whether one begins so long after all before it have ended.
bool begin_again(std::vector<RankSpan> processes) {
  std::sort(processes.begin(), processes.end(), [](const RankSpan& a, const RankSpan& b) { return a.start_ns < b.start_ns; });
  std::int64_t until = INT64_MAX;
  for (const RankSpan& one : processes) {
    if (until != INT64_MAX && one.start_ns - until >= kBetweenRunsNs) return true;
    until = until == INT64_MAX ? one.end_ns : std::max(until, one.end_ns);
  }
  return false;
}

}  // namespace

std::optional<NoTimeline> why_no_timeline(const TimelineFacts& facts) {
  if (facts.kernel_count + facts.copy_count == 0) return std::nullopt;
  if (facts.one_process && are_apart(facts.ranks))
    return NoTimeline{"separate-windows",
                      fmt::format("the {} traces are windows of one process at different times: the time between "
                                  "them was not recorded. Import them one by one to find what limits each",
                                  facts.ranks.size())};
  if (facts.collective_count == 0 && are_apart(facts.ranks))
    return NoTimeline{"merged-runs", fmt::format("the {} traces do not overlap in time: they are separate runs, not ranks of one "
                                                 "job. Import them one by one to find what limits each",
                                                 facts.ranks.size())};
  if (begin_again(facts.processes))
    return NoTimeline{"merged-runs",
                      fmt::format("the host events come from {} processes that do not overlap in time: the file contains "
                                  "separate runs, and the time between them means nothing. Import one run",
                                  facts.processes.size())};
  if (!facts.holes.empty() && facts.hole_ratio >= kMinHoles)
    return NoTimeline{"separate-windows",
                      fmt::format("the trace has {}. Record or import one window to find what limits it", text_of(facts.holes))};
  if (auto cut = lost_by_cut(facts)) return cut;
  if (2 * facts.counted_dispatch_count >= facts.kernel_count && facts.counted_dispatch_count > 0)
    return NoTimeline{"counter-pass",
                      "the kernels ran one by one for their hardware counters: the time between them belongs to the "
                      "profiler. The kernels themselves can be judged"};
  if (!facts.has_host_events && facts.id_pairs >= kMinIdPairs &&
      static_cast<double>(facts.id_falls) >= kFallingIds * static_cast<double>(facts.id_pairs))
    return NoTimeline{"merged-runs",
                      "the kernels come from many runs merged into one table: the time between them means nothing. The "
                      "kernels themselves can be judged"};
  if (!facts.has_host_events && facts.kernel_count == 0)
    return NoTimeline{"copies-only", "the trace contains copies only: what the device ran between them is not recorded"};
  if (!facts.has_host_events && facts.collective_count == facts.kernel_count)
    return NoTimeline{
        "collectives-only",
        "the trace contains collectives only: what ran between them, and whether they were hidden, is not recorded"};
  if (const std::int64_t work = facts.kernel_count + facts.copy_count;
      facts.has_captures && facts.launch_count >= kMinRecorded && facts.launch_count >= kLaunchesPerWork * work)
    return NoTimeline{"graph-capture", fmt::format("{} launches were captured into a graph and {} ran: pass this trace with "
                                                   "--capture when importing a trace of the replay",
                                                   facts.launch_count, work)};
  if (!facts.has_host_events && facts.idle_ratio >= kKernelsOnlyIdle)
    return NoTimeline{"kernels-only", "the trace contains kernels and no host events: why the device was idle is not recorded"};
  return std::nullopt;
}

bool is_unknown_without(const NoTimeline& none, std::string_view metric_id) {
  const bool of_launches =
      metric_id == "launch.tax" || metric_id == "launch.rate_per_second" || metric_id == "launch.lost_time_ratio";
  return of_launches && (none.reason == "counter-pass" || none.reason == "merged-runs" || none.reason == "separate-windows" ||
                         none.reason == "cut-file" || none.reason == "collectives-only" || none.reason == "copies-only");
}

void IdOrder::add(const trace::KernelRow& row) {
  const std::uint64_t id = row.dispatch_id != 0 ? row.dispatch_id : row.correlation_id;
  if (id == 0) return;
  const auto [last, fresh] = last_.try_emplace({row.rank, row.device}, id);
  if (fresh) return;
  ++pairs_;
  if (id < last->second) ++falls_;
  last->second = id;
}

void IdOrder::fill(TimelineFacts& facts) const {
  facts.id_pairs = pairs_;
  facts.id_falls = falls_;
}

}  // namespace aaco::analytics::trace_time
