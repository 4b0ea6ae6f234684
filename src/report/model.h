#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "report/sections.h"
#include "trace/metric.h"
#include "trace/rows.h"
#include "trace/session.h"

namespace aaco::report {

// One line of a "where did the time go" breakdown. The lists form a tree that a reader walks down: part -> operator type ->
// node -> kernel. A kernel launched by several nodes has one entry for each; tables add entries of one name together.
struct TimeShare {
  std::string name;        // node, operator type, kernel
  std::string group;       // operator type of a node, family of a kernel
  std::string provider;    // or library
  std::string parent;      // name of the entry one level up: an operator's part (empty: the first part), a node's operator type
                           // (empty: its group), a kernel's node, or of a trace its part (empty: not attributed)
  double total_ns = 0;     // per iteration
  double share_ratio = 0;  // of the iteration
  std::int64_t count = 0;  // executions per iteration
  std::optional<trace::Interval> ci95;  // of total_ns
  core::Json detail;                    // shapes and whatever else a click should show; may be null
  std::string short_name = {};          // for people, different for different names: "GEMM bf16 MT256x128x32"; empty: none
};

// A series over time, thinned for drawing (the extremes of each pixel's width are kept).
struct Series {
  std::string metric;
  std::string entity;
  std::string unit;
  std::vector<std::int64_t> time_ns;  // from the session's start
  std::vector<double> value;          // as many as times; not finite: a gap
};

struct TimelineSpan {
  std::string track;  // "iterations", "nodes", "GPU 0 stream 7"
  std::string name;
  std::string group;
  std::int64_t start_ns = 0;  // from the session's start
  std::int64_t duration_ns = 0;
};

struct HistogramBin {
  double low = 0;
  double high = 0;
  std::int64_t count = 0;
};

struct IterationPoint {
  std::string phase;
  std::int64_t iteration = 0;
  std::int64_t start_ns = 0;  // from the session's start
  std::int64_t duration_ns = 0;
  bool outlier = false;
  std::string disturbance;
};

// A statement with the evidence it rests on: bottleneck, cause, advice.
struct Statement {
  std::string id;
  std::string title;
  std::string text;
  std::optional<double> confidence_ratio;
  std::optional<double> gain_ratio;                   // expected, of `gain_of`
  std::vector<std::string> evidence;                  // one sentence each, with its number
  std::string gain_of = {};                           // "the latency", "the device span"; empty: the latency
  std::optional<trace::Interval> gain_interval = {};  // the least and the most that it saves, of `gain_of`; empty: unknown
};

// What a metric means, so that it can be cited: from data/metrics.
struct MetricDefinition {
  std::string id;     // "latency.p50_ns"
  std::string title;  // "Median latency"
  std::string unit;
  std::string formula;    // "order statistic of the measured iterations at probability 0.5 (type 7)"
  std::string direction;  // "lower", "higher" is better, or empty
  std::string meaning;    // one sentence; may be empty
};

// A limit of the hardware: arithmetic (flop/s) or traffic (bytes/s).
struct Roof {
  std::string name;  // "float32", "l2"
  enum class Kind { compute, memory } kind = Kind::compute;
  double per_second = 0;
  std::string source;  // "data sheet of ...", "calibration of ...: gemm bf16, 412 sites"
  // What the entry of the hardware registry states; what a calibration measured; what many runs reached.
  enum class Basis { stated, measured, reached } basis = Basis::stated;
  std::string of = {};  // the data type or the level of the memory; empty: the name tells
};
std::string_view to_string(Roof::Basis basis);

// Work placed under the roofs: its intensity is flops / bytes, its rate flops / time.
struct RoofPoint {
  std::string name;
  std::string group;
  double flops = 0;  // per iteration
  double bytes = 0;
  double time_ns = 0;
  std::optional<double> reached_ratio;  // of its own stated roofs (its data type's peak); empty: of the highest compute roof
  std::string kind = {};                // what it is to a calibration: gemm, convolution, attention ...; empty: not known
  std::string type = {};                // data type, as the registry names it; empty: not known
  std::int64_t count = 1;               // executions that flops, bytes and time are of
  std::string work_from = {};           // "shapes", "counters": where flops and bytes are from; empty: not said
  std::optional<double> measured_ratio = {};  // the same of the roofs that a calibration measured
};

// How far from what the hardware can do.
struct Roofline {
  std::string text;                     // one sentence: "the run reached 34 % of ..."
  std::optional<double> reached_ratio;  // ideal time by the stated roofs / measured time
  std::vector<Roof> roofs;
  std::vector<RoofPoint> points;
  std::optional<double> measured_ratio = {};  // as reached_ratio, by the roofs that a calibration measured
};

// What the times of a report are parts of: an iteration; the whole trace, on all its devices; or the kernels' own time together,
// where a profiler wrote totals and nothing of when they ran. Of a recorded program: the time of all its threads, or that without
// their sleep where it was not recorded.
enum class TimeWhole { iteration, trace, kernels, threads, active };
std::string_view to_string(TimeWhole whole);

// The device that the headline's numbers are of.
struct HeadlineDevice {
  std::int64_t device = 0;  // as metrics number it
  std::string name;         // "GPU 5, rank 1"
};

// Everything a report shows, in the order of DESIGN.md section 6; what was not measured is empty and its section left out.
struct ReportModel {
  trace::SessionManifest session;
  core::Json environment;
  std::string title;                          // what ran, short: "ResNet-50, CPU, batch 1"; empty: made from session.outcome
  std::string verdict;                        // one sentence, in words
  std::string verdict_confidence;             // "high: 1,200 iterations, ..."
  std::vector<std::string> headline_metrics;  // ids of the three numbers that matter
  std::optional<HeadlineDevice> headline_of;  // theirs, where there are several devices; else the first value of each
  trace::Metrics metrics;
  std::vector<MetricDefinition> definitions;
  TimeWhole time_whole = TimeWhole::iteration;
  std::int64_t time_devices = 1;     // whose times of the whole trace are added up
  std::vector<TimeShare> parts;      // the one bar: compute nodes, framework remainder, gaps ... sums to the whole
  std::vector<TimeShare> operators;  // by operator type
  std::vector<TimeShare> nodes;      // by node, largest first
  std::vector<TimeShare> kernels;    // GPU kernels, largest first
  std::string lost_time;             // of a run's calls, to what is not its own work: "48 % of it is ..."; empty: none known
  std::vector<Statement> why;
  std::string why_cause;  // of the first: ": CAUSE (SHARE of the trace)"; empty: not known
  std::vector<Statement> advice;
  std::optional<Roofline> roofline;
  std::vector<IterationPoint> iterations;
  std::vector<HistogramBin> histogram;  // of the measured phase, in ns
  std::vector<TimelineSpan> timeline;
  std::vector<Series> telemetry;
  Sections sections;
};

}  // namespace aaco::report
