#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What it costs to go from one execution provider to another, from the executions of nodes. Pure.
namespace aaco::analytics::compiler {

// One execution of a node in one call of the model.
struct ProviderStep {
  std::int64_t call = 0;
  std::string node, provider;
  std::int64_t start_ns = 0, end_ns = 0;
  bool inserted = false;  // put in by the compiler to copy or convert a tensor
};

// Two nodes that run one after the other on two providers.
struct ProviderSeam {
  std::string first, second, from, to;  // nodes, then their providers
  std::int64_t calls = 0;               // in which they follow each other
  double time_ns = 0;  // median over these calls of (begin of second - end of first), less the usual one of two nodes
};

struct ProviderSeams {
  std::int64_t calls = 0;
  double call_ns = 0;               // median over the calls of (last end - first begin)
  std::optional<double> usual_ns;   // median time between two nodes of one provider; empty: no such pair, nothing is taken off
  std::vector<ProviderSeam> seams;  // in order of their place in the call
  double total_ns = 0;              // their sum per call; below 0: within the noise of the usual time
};

// Inserted nodes between the two of a seam belong to it, whichever provider runs them. Pairs that overlap in time are left out,
// and so are pairs that follow each other in fewer than half of the calls. What a provider converts inside a node is in that
// node's time, and not seen here.
ProviderSeams provider_seams(std::vector<ProviderStep> steps);

// Whether an operator only copies or converts a tensor, so that a node of it that the model lacks was put in for the nodes around
// it.
bool converts_only(std::string_view op_type);

}  // namespace aaco::analytics::compiler
