#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "trace/metric.h"
#include "trace/rows.h"
#include "trace/session.h"

namespace aaco::report {

// One line of a "where did the time go" breakdown.
struct TimeShare {
  std::string name;      // node, operator type, kernel
  std::string group;     // operator type of a node, family of a kernel
  std::string provider;  // or library
  double total_ns = 0;   // per iteration
  double share_ratio = 0;
  std::int64_t count = 0;  // executions per iteration
  core::Json detail;       // shapes and whatever else a click should show; may be null
};

// A series over time, thinned for drawing (the extremes of each pixel's width are kept).
struct Series {
  std::string metric;
  std::string entity;
  std::string unit;
  std::vector<std::int64_t> time_ns;  // from the session's start
  std::vector<double> value;
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
  std::int64_t start_ns = 0;
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
  std::optional<double> gain_ratio;      // expected, of the latency
  std::vector<std::string> evidence;     // one sentence each, with its number
};

// Everything a report shows, in the order of DESIGN.md section 6; what was not measured is empty and its section left out.
struct ReportModel {
  trace::SessionManifest session;
  core::Json environment;
  std::string verdict;             // one sentence, in words
  std::string verdict_confidence;  // "high: 1,200 iterations, ..."
  std::vector<std::string> headline_metrics;  // ids of the three numbers that matter
  trace::Metrics metrics;
  std::vector<TimeShare> parts;      // the one bar: compute nodes, framework remainder, gaps ... sums to the iteration
  std::vector<TimeShare> operators;  // by operator type
  std::vector<TimeShare> nodes;      // by node, largest first
  std::vector<TimeShare> kernels;    // GPU kernels, largest first
  std::vector<Statement> why;
  std::vector<Statement> advice;
  std::vector<IterationPoint> iterations;
  std::vector<HistogramBin> histogram;  // of the measured phase
  std::vector<TimelineSpan> timeline;
  std::vector<Series> telemetry;
  core::Json extra;  // sections other modules add by name (gaps, roofline, attribution): each an object
};

}  // namespace aaco::report
