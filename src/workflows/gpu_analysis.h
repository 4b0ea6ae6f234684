#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analytics/attribution.h"
#include "analytics/gaps.h"
#include "analytics/levels.h"
#include "analytics/queue_depth.h"
#include "analytics/rank_skew.h"
#include "analytics/steps.h"
#include "analytics/timeline.h"
#include "analytics/trace_time.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/metric.h"
#include "trace/sink.h"
#include "workflows/captured_launch.h"
#include "workflows/gpu/gpu_rates.h"
#include "workflows/gpu/idle_cause_names.h"
#include "workflows/gpu/work_findings.h"
#include "workflows/gpu_roofline.h"
#include "workflows/gpu_sites.h"
#include "workflows/graph_nodes.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct GpuAnalysisOptions {
  analytics::trace_time::Convention convention;
  std::int64_t gap_threshold_ns = analytics::gaps::kDefaultThresholdNs;
  std::vector<CapturedLaunch> captures;  // of the graphs that the trace launches
  bool find_steps = true;                // false where the session has iterations already
  bool keep_steps = true;                // as iterations of the session; else they only tell its nodes from each other
  bool same_machine = false;             // equal device numbers of ranks are one GPU, which they share
  bool counters_apart = false;           // counters come from other executions than the kernels' times
  bool is_cut = false;                   // at least one file ends early
  bool processes_differ = false;         // the files say that they are of different ranks
  SeenDevices devices;
  analytics::levels::Plan levels;  // of the timeline, which the rows make on the way; empty: none
  GraphNodes graph;                // that the kernels are of; empty: the session's own, where it has one
};

// One GPU of one rank. `metric_device` is the number its metrics carry: the device's own, unless two ranks share a number.
// How reports and warnings call a device: "GPU 5", "GPU 5, rank 1". Its metrics carry the number of metric_device, which is
// another where ranks have devices of one number.
std::string gpu_label(std::int64_t rank, std::int64_t device);

struct GpuOfTrace {
  std::int32_t rank = 0;            // the first that ran work on it
  std::vector<std::int32_t> ranks;  // all that did: more than one share it
  std::int64_t device = 0;
  std::int64_t metric_device = 0;
  analytics::trace_time::DeviceTime time;
  std::int64_t repeated_kernels = 0;                // that stand in the trace before, the same in every column
  std::int64_t early_kernels = 0, earliest_ns = 0;  // that start before the call that launched them; the longest lead
  // What was added to the device's times to compare them with the host's (analytics/host_offset.h), and the part of the idle time
  // that this leaves uncertain: gaps shorter than the clocks are apart.
  std::int64_t host_offset_ns = 0;
  double uncertain_idle_ratio = 0;
  analytics::trace_time::QueueDepth queue;
  analytics::attribution::Coverage coverage;
  std::int64_t known_family_ns = 0;  // kernel time with a family other than "other"
  std::map<analytics::gaps::Cause, analytics::gaps::CauseSum> gaps;
  std::vector<IdleCause> idle_causes;  // the largest time first
  core::Json copy_kinds;               // copies and fills by kind: count, sum_ns
  GpuRoofline roofline;
  GpuSites sites;
  GpuRates rates;
  core::Json kernel_limits;  // what limits its kernels (workflows/gpu/kernel_limits.h)
  WorkFindings findings;
};

struct GpuAnalysis {
  std::vector<GpuOfTrace> gpus;                         // by rank and device; empty: the session has no device work
  std::vector<analytics::trace_time::RankTime> ranks;   // by rank
  std::optional<analytics::trace_time::RankSkew> skew;  // of several
  // Why nothing limits it: merged runs, counter passes ... have no timeline. Empty: it has one.
  std::optional<analytics::trace_time::NoTimeline> no_timeline;
  bool has_api_calls = false;
  bool has_causes = false;    // framework operators or marker ranges
  bool has_captures = false;  // a trace of a graph capture was given, and has launches
  analytics::steps::Steps steps;
  bool has_device_steps = false;  // iterations of phase device_step were added (workflows/gpu/device_steps.h)
  core::Json nodes;               // how kernels were joined to the graph's nodes; null where there is no graph
  trace::Metrics metrics;
};

// Reads a flushed bundle's kernels, copies and API calls in time order and bounded memory, and adds what follows from them to
// `sink`: attribution, kernel groups, gaps, steps.
core::Result<GpuAnalysis> analyse_gpu(const std::string& session_path, const GpuAnalysisOptions& options, trace::Sink& sink,
                                      const Services& services);

}  // namespace aaco::workflows
