#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/cost.h"
#include "graph/graph.h"

// Which device runs which part of a graph, what that costs in copies, and what can run at the same time.
namespace aaco::graph {

// A device or provider, and why it does not take a node (empty: it does).
struct Target {
  std::string name;
  std::function<std::string(const Graph&, const Node&)> refuses;
  bool one_part = false;  // what comes after a node that it does not take stays off it too
};

struct Part {
  std::size_t target = 0;  // of the targets
  std::vector<std::size_t> nodes;
  double flops = 0;
};
// A tensor that one target makes and another reads.
struct Transfer {
  TensorId tensor;
  std::size_t from = 0, to = 0;  // targets
  double bytes = 0;
};
struct Refusal {
  std::string op_type;  // with its domain
  std::string target;
  std::string reason;
  std::int64_t nodes = 0;
};
struct Partition {
  std::vector<std::size_t> target_of;  // by node; nodes that no target takes go to the last one
  std::vector<Part> parts;             // runs one after the other are possible: no part needs another one back and forth
  std::vector<Transfer> transfers;  // each tensor once for each target that reads it; weights and the graph's inputs are in place
  double transfer_bytes = 0;
  std::vector<Refusal> refusals;  // the most nodes first
};
// Each node goes to the first target that takes it. Views and sizes follow the node that makes their input, so that they tear
// nothing apart.
Partition partition(const Graph& graph, const std::vector<Target>& targets);

// How long a graph takes when every node has its time, and as much as may runs at once.
struct Schedule {
  double work = 0;                // of all nodes
  double critical = 0;            // of the longest chain of nodes that wait for each other
  std::vector<std::size_t> path;  // that chain
  double parallelism = 1;         // work / critical: how many nodes run at once on average, at best
  std::size_t widest = 0;         // most nodes that wait for nothing but nodes of earlier levels
};
// `seconds`: one a node of the outermost graph (any unit; below 0 counts as 0).
Schedule schedule(const Graph& graph, const std::vector<double>& seconds);

}  // namespace aaco::graph
