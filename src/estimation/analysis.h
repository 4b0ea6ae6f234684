#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/energy.h"
#include "estimation/latency.h"
#include "estimation/mapping.h"
#include "graph/cost.h"
#include "graph/fuse.h"
#include "graph/graph.h"
#include "hardware/device.h"

// What a whole graph would take on a device: time, memory, energy, each with its level, its source and a 90 % interval, and why.
namespace aaco::estimation {

struct Estimate {
  double value = 0;
  std::string unit;  // "ns", "bytes", "J", "W"
  Level level = Level::theoretical;
  std::string source;
  double lower = 0, upper = 0;
};

// What is asked beside the graph.
struct Conditions {
  std::string dtype;                        // of all floating-point work ("fp16"); empty: as the graph has it
  std::optional<double> power_cap_watts;    // below the board's own
  const graph::Fusion* fusion = nullptr;    // of the graph, as the runtime makes kernels of its nodes (graph/fuse.h); null: none
  std::optional<double> host_ns;            // the host's part of issuing a node; empty: what is usual for the kind of device
  bool eager = false;                       // a framework issues kernel by kernel, in place of a runtime that has planned ahead
  bool as_written = true;                   // else a language model on a GPU is costed as serving stacks run it (decoder_graph.h)
  const std::vector<bool>* only = nullptr;  // by node of the outermost graph: those that count, bodies with them; null: all
  Level best = Level::calibrated;           // no better level is used
};

// A node with work on the device.
struct NodeEstimate {
  std::string name, op_type;
  std::string device;     // that runs it, where a graph is on several (estimation/partitioned.h)
  std::size_t place = 0;  // of the outermost graph's nodes: itself, or the one whose body it is in
  graph::OperatorClass kind = graph::OperatorClass::unknown;
  std::vector<std::string> fused;  // operators that run in the same kernel, in order
  double repeats = 1;              // executions in one run of the graph
  std::string shape;               // "1x197x768 k 3072", for people
  std::string dtype;
  Work work;                       // of one execution
  LatencyEstimate latency;         // of one execution, under the conditions
  double theoretical_seconds = 0;  // the same by specifications alone, whatever the level of `latency`
  Mapping mapping;
  double clock_ratio = 1;                // below 1: the power limit holds the clock down
  std::optional<EnergyEstimate> energy;  // of one execution, under the conditions
  [[nodiscard]] double seconds() const { return latency.seconds * repeats; }
};

struct ClassEstimate {
  std::int64_t nodes = 0;
  double seconds = 0, joules = 0, flops = 0, bytes = 0;
};

// Where the device's memory goes.
// What is live while one node of the graph runs, weights left out.
struct MemoryPoint {
  std::string node;
  std::int64_t activation_bytes = 0, workspace_bytes = 0;
};

struct MemoryParts {
  std::int64_t weight_bytes = 0, activation_bytes = 0, workspace_bytes = 0, kv_cache_bytes = 0;
  std::int64_t device_bytes = 0;  // what the device has; 0: not published
  std::string peak_node;
  std::vector<MemoryPoint> timeline;  // in the graph's order
};

struct GraphEstimate {
  std::string device_id, device_name;
  std::vector<NodeEstimate> nodes;  // in order of execution
  Estimate latency;
  double device_seconds = 0;        // sum over nodes
  double host_exposed_seconds = 0;  // when the device waits for the host
  double overlapped_seconds = 0;    // host time hidden behind the device
  std::optional<Estimate> energy;
  EnergyParts energy_parts;
  std::optional<Estimate> power;  // mean
  double least_clock_ratio = 1;
  std::optional<Estimate> memory;  // peak; filled by the caller that knows the runtime
  MemoryParts memory_parts;
  std::map<std::string, ClassEstimate> classes;
  std::vector<graph::Unmodelled> unmodelled;
  std::vector<graph::NewerVersion> newer;
  double confidence_ratio = 1;  // as of graph::GraphCost
  std::vector<std::string> notes;
  std::string residency;  // what stays on the chip of a device without memory of its own; it is one of the notes, too
  double flops = 0, bytes = 0, weight_bytes = 0;
  std::int64_t fused_nodes = 0;  // without a kernel of their own
};

// `calibrations` may be null. Fails with unsupported where the device can compute none of the graph's work, with invalid_argument
// for a cap it cannot hold or a type nobody knows.
core::Result<GraphEstimate> analyze(const graph::Graph& graph, const hardware::Device& device, const Conditions& conditions,
                                    const CalibrationSet* calibrations);

// After the graph's time was replaced by a better one: static power flows as long as that, the rest of the energy stays.
void follow_latency(const hardware::Device& device, double seconds_before, GraphEstimate& out);

core::Json to_json(const Estimate& estimate);
core::Json to_json(const GraphEstimate& estimate, bool nodes);

// The graph's element type for a type of work ("fp16", "tf32"); empty: there is none.
std::optional<graph::ElementType> element_type_of(const std::string& dtype);

// The node's work as the estimators see it; `dtype` replaces a floating-point type. Host-only nodes have none.
std::optional<Kernel> kernel_of(const graph::Graph& graph, const graph::Node& node, const graph::NodeCost& cost,
                                const std::string& dtype);
// The kernel of a product, a convolution of one or two dimensions or an attention, computed in `type`; empty: of anything else.
std::optional<Kernel> kernel_of_site(const graph::Site& site, const std::string& type);
// "4096x4096, k 512", "8x64x56x56, 64 of 3x3", as tables show it.
std::string shape_text(const Kernel& kernel);
// The cost's work with floating-point bytes as `dtype` has them.
Work work_under(const graph::NodeCost& cost, const std::string& dtype);

}  // namespace aaco::estimation
