#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analytics/fingerprint.h"
#include "graph/cost.h"

// Which node of a graph each kernel of one step came from, where nothing but the order tells: both are sequences, and what a node
// is says which families its kernels can have.
namespace aaco::analytics::node_order {

// A node of the graph, in order of execution.
struct Node {
  graph::OperatorClass kind = graph::OperatorClass::unknown;
  std::string name;
  std::string op_type;
  std::string kernel;              // the name of its kernel, where a compiler says it
  std::optional<double> elements;  // of its first result
  std::optional<double> flops;
};
struct Kernel {
  std::string name;
  fingerprint::Family family = fingerprint::Family::other;
  std::optional<double> threads;  // of the whole grid
  double duration_ns = 0;
};

struct Cause {
  std::optional<std::size_t> node;  // the likeliest; empty: likelier none than any
  bool by_name = false;             // the kernel's name holds the node's
  double confidence = 0;            // 0..1; 0 where `node` is empty
};
struct Alignment {
  std::vector<Cause> causes;               // by kernel
  double plausibility = 0;                 // 0..1: that these kernels are of this graph at all
  double node_recall = 0;                  // of the nodes that need a kernel of their own, the share that has one
  double kernel_recall = 0;                // of the kernels that need such a node, the share that has one
  std::optional<double> work_correlation;  // rank correlation of the nodes' work with their kernels' time, of eight and more
  std::string explanation;                 // one sentence
};

// Below this plausibility no kernel gets a node.
inline constexpr double kMinPlausible = 0.6;
// No order alone is surer than this (our own judgement; docs/results.md has what was right on real traces).
inline constexpr double kMaxConfidence = 0.8;
// Nodes that can have kernels times kernels: 12 bytes each.
inline constexpr std::size_t kMaxCells = 12'000'000;

// How often the graph ran, by the numbers of nodes and kernels that need each other; at least 1. For kernels that nothing cuts
// into steps.
std::size_t likely_runs(std::span<const Node> nodes, std::span<const Kernel> kernels);

// A hidden Markov model of pairs: a node has no kernel (its work was fused away), or one with helpers before and behind it; a
// kernel belongs to a node or to none. Posterior probabilities by the forward-backward algorithm (Durbin, Eddy, Krogh, Mitchison,
// Biological Sequence Analysis, chapter 4). Fails with invalid_argument where there are more than kMaxCells cells.
core::Result<Alignment> align(std::span<const Node> nodes, std::span<const Kernel> kernels);

}  // namespace aaco::analytics::node_order
