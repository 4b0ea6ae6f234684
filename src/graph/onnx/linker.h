#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/input.h"

namespace aaco::graph::onnx {

// Gives the tensors of one graph their ids by name, and puts its nodes in order once all of them are known.
class Linker {
 public:
  Linker(Input& input, Graph& graph) : input_(input), graph_(graph) {}
  // The tensor of that name, made where it is new; not valid for the empty name (an input that is left out).
  TensorId tensor(const std::string& name);
  // Checks that every tensor has at most one producer and every input one; notes captured tensors (in a subgraph, else an error);
  // sorts the nodes. A cycle is an error.
  void finish(bool inside_another_graph);

 private:
  void find_producers();
  void drop_defaulted_inputs();
  void find_captured(bool inside_another_graph);
  void sort_nodes();
  [[nodiscard]] std::vector<TensorId> needs(const Node& node) const;

  Input& input_;
  Graph& graph_;
  std::unordered_map<std::string, TensorId> ids_;
  std::vector<std::int32_t> producer_;  // by tensor: node, or one of the two below
  static constexpr std::int32_t kNone = -1;
  static constexpr std::int32_t kGiven = -2;  // an input or a constant
};

}  // namespace aaco::graph::onnx
