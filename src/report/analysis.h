#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "estimation/analysis.h"
#include "estimation/partitioned.h"
#include "graph/tokens.h"
#include "report/paper.h"

namespace aaco::report {

// A prediction with what it was made of.
struct AnalysisReport {
  std::string model;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  // of the model's dimensions
  std::vector<std::string> assumptions;                     // sizes and trip counts nobody gave
  std::int64_t batch = 1;                                   // items one run works on
  std::string counted_by;                                   // what says so: "'batch_size'"
  std::optional<graph::Tokens> tokens;                      // where it is known what a token is
  std::string dtype;                                        // asked for; empty: as the model has it
  estimation::GraphEstimate estimate;
  std::optional<estimation::PartitionReport> partition;  // where it is over a device and its fallback
};

// `nodes`: how many of the slowest nodes are listed; 0: all.
Paper analysis_paper(const AnalysisReport& report, std::size_t nodes);
// Every node, numbers in base units.
// What is live over the graph, for the page: at most 24 stretches of nodes, each with its largest moment.
PaperSection memory_timeline(const AnalysisReport& report);
PaperTable analysis_table(const AnalysisReport& report);
core::Json analysis_json(const AnalysisReport& report);

// "1.23 ms, 0.9 to 2.1 ms" with the unit's usual form, and where it comes from.
std::string estimate_text(const estimation::Estimate& estimate);

}  // namespace aaco::report
