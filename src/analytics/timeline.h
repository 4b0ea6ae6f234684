#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analytics/recording_holes.h"
#include "trace/rows.h"

// Whether the times between a trace's kernels say anything of the program that ran: merged runs, counter passes and recorded
// graphs have kernels one by one, and no timeline.
namespace aaco::analytics::trace_time {

// First start to last end of one rank's work.
struct RankSpan {
  std::int64_t start_ns = 0, end_ns = 0;
};

struct TimelineFacts {
  std::int64_t kernel_count = 0, collective_count = 0;  // of all kernels; collectives are kernels too
  std::int64_t copy_count = 0;
  std::int64_t launch_count = 0;            // calls of a runtime that launch work
  bool has_host_events = false;             // calls, operators or ranges
  bool has_captures = false;                // calls that record a graph
  std::int64_t counted_dispatch_count = 0;  // dispatches with hardware counters
  std::int64_t id_pairs = 0, id_falls = 0;  // neighbouring kernels with ids, and those whose id is smaller than the one before
  double idle_ratio = 0;                    // of the least busy device's span
  std::vector<RankSpan> ranks;
  bool one_process = false;          // launched the work of all ranks
  std::vector<RecordingHole> holes;  // in the recording of one rank
  double hole_ratio = 0;             // of that rank's span
  bool is_cut = false;               // the file ends early
  std::int64_t linked_count = 0;     // kernels whose launch is in the trace
  std::vector<RankSpan> processes;   // first start to last end of the host events of each process
};

struct NoTimeline {
  std::string reason;  // merged-runs, separate-windows, cut-file, counter-pass, collectives-only, copies-only, graph-capture,
                       // kernels-only
  std::string text;    // one sentence
  bool operator==(const NoTimeline&) const = default;
};

// Why the trace has no timeline from which a limit could be read; empty: it has one.
std::optional<NoTimeline> why_no_timeline(const TimelineFacts& facts);

// Whether a metric says how fast the program launches: the kernels of counter passes and merged runs were not launched as they
// stand there, so these have none.
bool is_unknown_without(const NoTimeline& none, std::string_view metric_id);

// Counts in kernels in order of start how often an id falls: ids of one process rise with time.
class IdOrder {
 public:
  void add(const trace::KernelRow& row);
  void fill(TimelineFacts& facts) const;

 private:
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint64_t> last_;  // by rank, device
  std::int64_t pairs_ = 0, falls_ = 0;
};

}  // namespace aaco::analytics::trace_time
