#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "runner/zoo.h"

namespace aaco::runner::zoo {

using graph::TensorId;
using Dims = std::vector<std::int64_t>;

// Builds a graph node by node. Names follow a scope: inside Scope("layer1"), Scope("conv1") the weight "weight" is
// "layer1.conv1.weight" and the node Conv "/layer1/conv1/Conv".
class Builder {
 public:
  Builder(std::string name, ElementType type);

  class Scope {
   public:
    Scope(Builder& builder, std::string name) : builder_(builder) { builder_.scopes_.push_back(std::move(name)); }
    ~Scope() { builder_.scopes_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder& builder_;
  };

  // The element type of weights and activations.
  [[nodiscard]] ElementType type() const { return type_; }

  TensorId input(std::string name, ElementType type, graph::Shape shape);
  void output(TensorId tensor, std::string name, ElementType type, graph::Shape shape);
  // A trained weight, counted among the parameters.
  TensorId parameter(std::string_view name, Dims dims, Fill fill);
  // A weight that training does not touch by gradient (running statistics), not counted.
  TensorId buffer(std::string_view name, Dims dims, Fill fill);
  // Constants; the same value is kept once.
  TensorId constant(std::span<const std::int64_t> values);
  TensorId constant(std::initializer_list<std::int64_t> values) { return constant(std::span(values.begin(), values.size())); }
  TensorId scalar(std::int64_t value);
  TensorId real(double value) { return real(value, type_); }  // a scalar of type()
  TensorId real(double value, ElementType type);              // a scalar; float32 or float16
  // A table of constants under the scope's name.
  TensorId reals(std::string_view name, std::span<const float> values, Dims dims);
  TensorId integers(std::string_view name, std::span<const std::int64_t> values, Dims dims);

  TensorId node(std::string op_type, std::vector<TensorId> inputs, std::vector<graph::Attribute> attributes = {});
  std::vector<TensorId> node_n(std::string op_type, std::size_t outputs, std::vector<TensorId> inputs,
                               std::vector<graph::Attribute> attributes = {});

  // Of ONNX Runtime's own operators (domain com.microsoft).
  std::vector<TensorId> runtime_node(std::string op_type, std::size_t outputs, std::vector<TensorId> inputs,
                                     std::vector<graph::Attribute> attributes);

  Blueprint finish() &&;

 private:
  TensorId weight(std::string_view name, Dims dims, Fill fill);
  TensorId kept(std::string name, ElementType type, Dims dims, std::vector<std::byte> data);
  [[nodiscard]] std::string path(std::string_view separator, std::string_view last) const;

  ElementType type_;
  std::vector<std::string> scopes_;
  std::map<std::string, int> used_names_;
  std::map<std::string, TensorId> constants_;
  Blueprint blueprint_;
};

}  // namespace aaco::runner::zoo
