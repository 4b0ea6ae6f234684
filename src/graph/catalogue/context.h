#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/catalogue/value.h"
#include "graph/graph.h"

namespace aaco::graph {

using Ints = std::vector<std::int64_t>;

// Numbers that are known while shapes are inferred, by tensor.
class Values {
 public:
  explicit Values(const Graph& graph);
  // Of a constant (read at the first use) or a followed tensor; null where it is not known.
  const Value* find(TensorId id);
  void set(TensorId id, Value value);

 private:
  const Graph& graph_;
  std::vector<std::int32_t> constant_;  // by tensor: initializer, -1 for none
  std::vector<std::optional<Value>> known_;
};

// What a shape function sees of its node.
class ShapeContext {
 public:
  ShapeContext(Graph& graph, const Node& node, Values& values, std::int64_t opset)
      : graph_(graph), node_(node), values_(values), opset_(opset) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] std::int64_t opset() const { return opset_; }
  [[nodiscard]] std::size_t inputs() const { return node_.inputs.size(); }
  [[nodiscard]] std::size_t outputs() const { return node_.outputs.size(); }
  [[nodiscard]] bool has(std::size_t input) const;
  [[nodiscard]] const Shape* shape(std::size_t input) const;  // null where it is left out or of unknown rank
  [[nodiscard]] ElementType type(std::size_t input) const;
  [[nodiscard]] const Value* value(std::size_t input) const;
  // The integers of an input; empty where one of them is not known.
  [[nodiscard]] std::optional<Ints> ints(std::size_t input) const;
  // Of an attribute in older opsets and an input in newer ones. Neither is there: `fallback`. There, but not known: empty.
  [[nodiscard]] std::optional<Ints> ints(std::string_view attribute, std::size_t input, const Ints& fallback = {}) const;
  [[nodiscard]] std::int64_t number(std::string_view attribute, std::int64_t fallback) const {
    return node_.int_or(attribute, fallback);
  }
  // The element type an attribute names by ONNX's number; `fallback` where it is absent.
  [[nodiscard]] ElementType type_attribute(std::string_view attribute, ElementType fallback) const;

  // What the node's definition says about an output. Ignored where there is no such output.
  void set(std::size_t output, Shape shape, ElementType type);
  void set_type(std::size_t output, ElementType type);
  void set_value(std::size_t output, Value value);
  // The inputs contradict the operator's definition.
  void problem(std::string what) { problem_ = std::move(what); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  Graph& graph_;
  const Node& node_;
  Values& values_;
  std::int64_t opset_;
  std::string problem_;
};

using ShapeFunction = void (*)(ShapeContext&);

// Computes the numbers of the node's outputs where those of its inputs are known.
void fold(ShapeContext& context);

}  // namespace aaco::graph
