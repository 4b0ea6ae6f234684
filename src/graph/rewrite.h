#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

// Changes to a model that keep its inputs and outputs: names, types and shapes.
namespace aaco::graph::rewrite {

struct Pass {
  std::string_view id;
  std::string_view explain;
  // The outputs stay the same, to the bit where the runtime computes alike. Otherwise the pass changes precision.
  bool exact = true;
};
std::span<const Pass> passes();
// Null for an unknown id.
const Pass* find_pass(std::string_view id);

// Nodes of the outermost graph that the pass would change. No weights are read.
std::int64_t count_sites(const Graph& graph, std::string_view pass);

struct PassAccount {
  std::string pass;
  std::int64_t nodes = 0;  // changed or removed
};

// Fails with invalid_argument for an unknown pass, unsupported where the pass finds nothing to change, and as reading a weight
// does.
core::Result<PassAccount> apply_pass(Graph& graph, std::string_view pass);

// Reads the ONNX model at `from`, applies the passes in order and writes it to `to` (with FILE.data for large weights).
core::Result<std::vector<PassAccount>> rewrite_model(const std::string& from, const std::vector<std::string>& passes,
                                                     const std::string& to);

}  // namespace aaco::graph::rewrite
