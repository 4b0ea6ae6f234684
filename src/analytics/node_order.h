#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analytics/fingerprint.h"
#include "graph/cost.h"

// Matches the kernels of one step to graph nodes by order alone: both are sequences, and a node's operator
// determines the possible families of its kernels.
namespace aaco::analytics::node_order {

// A node of the graph, in order of execution.
struct Node {
  graph::OperatorClass kind = graph::OperatorClass::unknown;
  std::string name;
  std::string op_type;
  std::string kernel;              // the name of its kernel, if stated by a compiler
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
  std::optional<std::size_t> node;  // the most likely one; empty: probably none
  bool by_name = false;             // the kernel's name contains the node's
  double confidence = 0;            // 0..1; 0 where `node` is empty
};
struct Alignment {
  std::vector<Cause> causes;               // by kernel
  double plausibility = 0;                 // 0..1: that these kernels belong to this graph
  double node_recall = 0;                  // matched share of the nodes that need a kernel
  double kernel_recall = 0;                // matched share of the kernels that need such a node
  std::optional<double> work_correlation;  // rank correlation of node work and kernel time, from eight pairs
  std::string explanation;                 // one sentence
};

// Below this plausibility no kernel is matched.
inline constexpr double kMinPlausible = 0.6;
// Maximum confidence of matching by order (our judgement; docs/results.md has the accuracy on real traces).
inline constexpr double kMaxConfidence = 0.8;
// Nodes that can have kernels times kernels: 12 bytes each.
inline constexpr std::size_t kMaxCells = 12'000'000;

// How often the graph ran, from the numbers of matching nodes and kernels; at least 1. For kernels not divided
// into steps.
std::size_t likely_runs(std::span<const Node> nodes, std::span<const Kernel> kernels);

// A hidden Markov model of pairs: a node has no kernel (its work was fused away), or one with helpers before and behind it; a
// kernel belongs to a node or to none. Posterior probabilities by the forward-backward algorithm (Durbin, Eddy, Krogh, Mitchison,
// Biological Sequence Analysis, chapter 4). Fails with invalid_argument for more than kMaxCells cells.
core::Result<Alignment> align(std::span<const Node> nodes, std::span<const Kernel> kernels);

}  // namespace aaco::analytics::node_order
