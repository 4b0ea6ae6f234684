#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class TextPage;
struct ReportModel;

// A predicted figure with its 90 % interval, as docs/formats/predictions.md has it.
struct Prediction {
  double value = 0, lower = 0, upper = 0;
  std::string unit, confidence, source;
};

// What was measured beside what was predicted: the whole, and each node beside its attainable time.
struct Attainable {
  struct Whole {
    Prediction predicted;
    std::optional<double> measured_ns;  // the median
    std::optional<bool> surprise;       // outside the prediction's interval
  };
  struct Energy {
    Prediction predicted;  // per iteration
    std::optional<std::int64_t> tokens;
    std::optional<double> measured_joules, measured_lower_joules, measured_upper_joules;
    std::optional<bool> surprise;
  };
  struct Node {
    std::string name, op_type;
    std::optional<std::string> graph_node;
    std::string shape;
    std::optional<std::string> dtype;
    std::optional<std::int64_t> count, kernel_count;  // of a trace: calls and kernels that the times are sums of
    double measured_ns = 0, attainable_ns = 0;
    std::optional<double> predicted_ns, predicted_lower_ns, predicted_upper_ns;
    std::string confidence;
    std::string limit;  // compute, memory
    std::string reason;
    bool surprise = false;
    [[nodiscard]] double gap_ns() const { return measured_ns - attainable_ns; }
  };
  std::optional<std::string> device, title, note;
  std::optional<Whole> whole;
  std::optional<Prediction> memory;
  std::optional<Energy> energy;
  std::optional<double> explained_ratio;             // of a trace: share of the kernel time with shapes and a model
  std::optional<double> measured_ns, attainable_ns;  // of the matched nodes
  std::optional<std::int64_t> unmatched_nodes;       // that the runtime made; without a counterpart in the graph
  std::optional<double> unmatched_ns;
  std::optional<std::int64_t> surprises;
  std::vector<Node> nodes;
};

core::Json to_json(const Prediction& prediction);
// Missing members are 0 or empty.
Prediction prediction_from(const core::Json& estimate);
core::Json to_json(const Attainable& section);
void write_text(TextPage& page, const Attainable& section, const ReportModel& model);

}  // namespace aaco::report
