#pragma once

#include <string>

#include "core/result.h"
#include "graph/graph.h"
#include "graph/onnx.h"
#include "laboratory/benchmarks.h"

namespace aaco::laboratory::benchmarks {

// A model of the case's operator alone, its weights constants as in a network. Its operator's op_type is `measured`.
// Invalid_input for an operator or a data type this kind does not have.
struct OneOperator {
  graph::Graph graph;
  std::string measured;
  std::int64_t repeats = 1;  // nodes of it in a chain: a call's time is theirs together
};
core::Result<OneOperator> one_operator(const BenchmarkCase& one);

// Small seeded values for every weight, far from denormals.
class Filling final : public graph::onnx::WeightSource {
 public:
  Filling(const graph::Graph& graph, std::uint64_t seed);
  core::Status read(std::size_t index, std::int64_t offset, std::span<std::byte> out) override;

 private:
  const graph::Graph& graph_;
  std::vector<std::byte> single_, half_, brain_, byte_;  // a pattern of each type, repeated
};

}  // namespace aaco::laboratory::benchmarks
