#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/id.h"
#include "graph/element_type.h"

// The model as AACO sees it, whatever file it came from: values, no behaviour of any framework. Weights stay where they are.
namespace aaco::graph {

using TensorId = core::Id<struct TensorTag>;
// The tensor's place among the graph's tensors.
inline std::size_t index_of(TensorId id) { return static_cast<std::size_t>(id.value); }
using NodeId = core::Id<struct NodeTag>;
using SubgraphId = core::Id<struct SubgraphTag>;

// A size, or a symbol that gets its size at run time ("batch", "past_length + length"); neither: unknown.
struct Dimension {
  std::int64_t size = -1;
  std::string symbol;
  Dimension() = default;
  Dimension(std::int64_t fixed_size) : size(fixed_size) {}  // NOLINT: sizes are dimensions
  Dimension(int fixed_size) : size(fixed_size) {}           // NOLINT
  Dimension(std::string name) : symbol(std::move(name)) {}  // NOLINT: and so are names
  Dimension(const char* name) : symbol(name) {}             // NOLINT
  [[nodiscard]] bool fixed() const { return size >= 0; }
  bool operator==(const Dimension&) const = default;
};
using Shape = std::vector<Dimension>;

// The number of elements; empty where a dimension is not fixed or 64 bits overflow. A scalar (no dimensions) has one.
std::optional<std::int64_t> element_count(const Shape& shape);
// "[batch, 3, 224, 224]"; an unknown dimension is "?".
std::string to_string(const Shape& shape);

struct TensorDescriptor {
  std::string name;
  ElementType type = ElementType::unknown;
  std::optional<Shape> shape;  // empty: not even the rank is known
  bool operator==(const TensorDescriptor&) const = default;
};

// Bytes of constant data that lie in a file, dense and little-endian.
struct DataLocation {
  std::string file;  // an absolute path; it may be missing
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool operator==(const DataLocation&) const = default;
};

// A constant's content: small ones are kept (shape functions need them), large ones are where they are. Neither of both: the file
// declares the tensor and has no data for it, or stores it in a form that is not dense (strings, sparse).
struct Constant {
  std::vector<std::byte> data;           // dense, little-endian; filled up to kKeptConstantBytes
  std::optional<DataLocation> location;  // where the same bytes lie
  bool operator==(const Constant&) const = default;
};
inline constexpr std::int64_t kKeptConstantBytes = 64 << 10;

// A weight or another constant of the graph.
struct Initializer {
  TensorId tensor;
  Constant constant;
  bool operator==(const Initializer&) const = default;
};

struct TensorLiteral {
  TensorDescriptor descriptor;
  Constant constant;
  bool operator==(const TensorLiteral&) const = default;
};

// A value this IR does not model (sparse tensors, types); the kind it had.
struct OpaqueValue {
  std::string kind;
  bool operator==(const OpaqueValue&) const = default;
};

// In a function's body: the attribute of that name of the node that calls the function.
struct AttributeReference {
  std::string name;
  bool operator==(const AttributeReference&) const = default;
};

using AttributeValue =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>,
                 TensorLiteral, std::vector<SubgraphId>, AttributeReference, OpaqueValue>;

struct Attribute {
  std::string name;
  AttributeValue value;
  bool operator==(const Attribute&) const = default;
};

struct Node {
  std::string name;
  std::string op_type;
  std::string domain;             // empty: the standard operators of ONNX
  std::vector<TensorId> inputs;   // an optional input that is left out is not valid()
  std::vector<TensorId> outputs;  // likewise
  std::vector<Attribute> attributes;
  std::optional<std::int64_t> trips =
      {};  // of a Loop or Scan whose shapes were inferred; of the then_branch of an If whose condition is known, 1 or 0
  bool operator==(const Node&) const = default;

  // With its domain, if it is not the standard one: "com.microsoft.Gelu".
  [[nodiscard]] std::string qualified_type() const { return domain.empty() ? op_type : domain + "." + op_type; }
  [[nodiscard]] const AttributeValue* attribute(std::string_view key) const;
  // The attribute, or `fallback` where it is absent or of another kind.
  [[nodiscard]] std::int64_t int_or(std::string_view key, std::int64_t fallback) const;
  [[nodiscard]] double float_or(std::string_view key, double fallback) const;
  [[nodiscard]] std::string string_or(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] std::vector<std::int64_t> ints_or(std::string_view key, std::vector<std::int64_t> fallback) const;
};

struct Function;

// Nodes stand in an order in which every producer comes before its consumers. Every tensor has at most one producer.
struct Graph {
  std::string name;
  std::vector<TensorDescriptor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;  // without those that an initializer gives a default
  std::vector<TensorId> outputs;
  std::vector<Initializer> initializers;
  std::vector<TensorId> overridable;  // initializers that a caller may replace: inputs too, from IR version 4 on
  std::vector<TensorId> captured;     // of a subgraph: tensors of the same name in the graph around it
  std::vector<Graph> subgraphs;       // bodies of this graph's If, Loop, Scan; SubgraphId counts here

  // Of the outermost graph only.
  std::map<std::string, std::int64_t> opsets;  // domain ("" the standard one) -> version
  std::vector<Function> functions;             // operators the model defines by itself
  std::string producer;
  std::int64_t format_version = 0;  // the file format's own (ONNX: ir_version)
  std::map<std::string, std::string> metadata;

  [[nodiscard]] const TensorDescriptor& tensor(TensorId id) const { return tensors[static_cast<std::size_t>(id.value)]; }
  TensorDescriptor& tensor(TensorId id) { return tensors[static_cast<std::size_t>(id.value)]; }
  [[nodiscard]] const Graph& subgraph(SubgraphId id) const { return subgraphs[static_cast<std::size_t>(id.value)]; }
  // Adds a tensor and answers its id.
  TensorId add_tensor(TensorDescriptor descriptor);
};

struct Function {
  std::string domain;
  std::string name;
  Graph body;
};

// Elements and bytes of all initializers, subgraphs included; empty types and shapes count as nothing.
struct ConstantTotals {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};
ConstantTotals total_constants(const Graph& graph);

}  // namespace aaco::graph
