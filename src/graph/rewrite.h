#pragma once

#include <cstdint>
#include <map>
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

// The smallest and largest value that a tensor had on sample inputs.
struct ValueRange {
  float lowest = 0, highest = 0;
};
using ActivationRanges = std::map<std::string, ValueRange>;  // by tensor name
// Whether the pass requires the ranges of activations.
bool requires_ranges(std::string_view pass);

// Fails with invalid_argument for an unknown pass or missing ranges, unsupported where the pass finds nothing to change, and as
// reading a weight does.
core::Result<PassAccount> apply_pass(Graph& graph, std::string_view pass, const ActivationRanges& ranges = {});

// Reads the ONNX model at `from`, applies the passes in order and writes it to `to` (with FILE.data for large weights).
core::Result<std::vector<PassAccount>> rewrite_model(const std::string& from, const std::vector<std::string>& passes,
                                                     const std::string& to, const ActivationRanges& ranges = {});

// Writes a copy of the model to `to` whose outputs are scalars: for each tensor whose range int8_static requires its smallest and
// largest value, in this order. Answers the names of the tensors.
core::Result<std::vector<std::string>> write_range_model(const std::string& from, const std::string& to);

}  // namespace aaco::graph::rewrite
