#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

// How much memory a graph takes while it runs: weights that stay, activations that live from their producer to their last
// consumer, and what kernels need for themselves.
namespace aaco::estimation {

// What runtimes do alike enough to be predicted, and where they differ.
struct MemoryPolicy {
  std::string name = "onnxruntime_cpu";
  double weight_copies = 1;         // how often a weight is held once the model is loaded
  double loading_copies = 1;        // at most, while it is being loaded
  double activation_ratio = 1;      // memory the allocator takes for a byte that is live at the peak (fragments, second plans)
  std::int64_t runtime_bytes = 0;   // code, thread stacks and buffers of the runtime itself
  double node_bytes = 0;            // per node of the graph: its kernel, names, plans
  bool reuses_inputs = true;        // element-wise results go over an input that nobody reads afterwards
  bool materialises_scores = true;  // attention keeps its matrix of scores (no flash attention)
};

// ONNX Runtime 1.30 on a CPU, weights embedded in the model's file, fitted to nine models of the zoo at batch 1, 4 and 16
// (docs/results.md). Its allocator takes twice what is live, because the first call and the plan it makes for the later ones lie
// side by side; inputs are held twice, as they were made and as they are bound.
MemoryPolicy onnxruntime_cpu();

// One step of the execution: what is held while the node runs.
struct MemoryStep {
  std::int64_t node = 0;              // of graph.nodes
  std::int64_t activation_bytes = 0;  // live buffers, inputs and outputs of the model among them
  std::int64_t workspace_bytes = 0;   // of the node's kernel, and of the bodies it runs
};

// A buffer that is live at the peak.
struct LiveTensor {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t produced_by = -1;  // node; -1: an input of the model
};

struct MemoryEstimate {
  std::int64_t weight_bytes = 0;  // constants, and what is computed from constants alone
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
  std::int64_t kv_cache_bytes = 0;    // of the inputs and outputs: past and present keys and values
  std::int64_t activation_bytes = 0;  // largest sum of live buffers, inputs and outputs among them
  std::int64_t workspace_bytes = 0;   // at that moment
  std::int64_t loaded_bytes = 0;      // held before the first call: weights, runtime
  std::int64_t loading_bytes = 0;     // most that loading takes
  std::int64_t peak_bytes = 0;        // most of all: while loading or while running
  std::int64_t peak_node = -1;        // where running takes most
  std::vector<LiveTensor> at_peak;    // the largest first
  std::vector<MemoryStep> timeline;   // one step a node, in the graph's order
  std::int64_t unknown_tensors = 0;   // without a fixed shape or type: counted as nothing
};

// What is held while each node runs, by the order of the nodes; every dimension bound (graph/load.h).
MemoryEstimate estimate_memory(const graph::Graph& graph, const MemoryPolicy& policy = {});

}  // namespace aaco::estimation
