#pragma once

#include <optional>
#include <string>

#include "estimation/analysis.h"

namespace aaco::estimation {

// What crosses the link of a device without memory of its own (an Edge TPU, a Hailo-8) in one run of a graph: its inputs and
// outputs, the weights that its memory on the chip has no room for beside the largest node's activations, and the activations
// of nodes that are larger than that memory. Whatever else is moved stays on the chip. A chip whose memory is not published is
// taken to hold the graph. (coral.ai, Edge TPU Compiler, parameter data caching.)
class OnChip {
 public:
  // Empty for a device with main memory.
  static std::optional<OnChip> of(const graph::Graph& graph, const graph::GraphCost& cost, const hardware::Device& device,
                                  const Conditions& conditions);
  // Of one execution of a node. `whole`: its work with what is fused behind it.
  [[nodiscard]] double link_bytes(const graph::CostedNode& costed, const Work& whole) const;
  // Of the graph's inputs and outputs that the nodes asked for take and make.
  [[nodiscard]] double ends_bytes() const { return ends_bytes_; }
  // For people: what was found or assumed.
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  std::optional<double> capacity_;  // bytes; empty: not published
  double streamed_ratio_ = 0;       // of the weights
  double ends_bytes_ = 0;
  std::string dtype_, note_;
};

}  // namespace aaco::estimation
