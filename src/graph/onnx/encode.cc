#include "graph/onnx/encode.h"

#include "graph/file_weights.h"
#include "graph/onnx/schema.h"
#include "graph/onnx/wire_writer.h"

namespace aaco::graph::onnx {
namespace {

using core::ErrorCode;
using core::fail;

std::string_view as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

core::Result<std::string> encode_literal(const TensorLiteral& literal) {
  AACO_ASSIGN(std::string head, encode_tensor_head(literal.descriptor));
  WireWriter out;
  out.append(head);
  if (literal.constant.data.empty() && literal.constant.location) {
    AACO_ASSIGN(const core::SharedBytes stored, read_constant(literal.constant));
    out.bytes_field(schema::Tensor::raw_data, stored.text());
  } else {
    out.bytes_field(schema::Tensor::raw_data, as_text(literal.constant.data));
  }
  return out.bytes();
}

struct AttributeEncoder {
  const Graph& graph;
  WireWriter& out;
  using Field = schema::Attribute;

  core::Result<std::int64_t> operator()(std::int64_t value) const {
    out.int_field(Field::i, value);
    return Field::kInt;
  }
  core::Result<std::int64_t> operator()(double value) const {
    out.float_field(Field::f, static_cast<float>(value));
    return Field::kFloat;
  }
  core::Result<std::int64_t> operator()(const std::string& value) const {
    out.bytes_field(Field::s, value);
    return Field::kString;
  }
  core::Result<std::int64_t> operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) out.int_field(Field::ints, value);
    return Field::kInts;
  }
  core::Result<std::int64_t> operator()(const std::vector<double>& values) const {
    for (const double value : values) out.float_field(Field::floats, static_cast<float>(value));
    return Field::kFloats;
  }
  core::Result<std::int64_t> operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) out.bytes_field(Field::strings, value);
    return Field::kStrings;
  }
  core::Result<std::int64_t> operator()(const TensorLiteral& value) const {
    AACO_ASSIGN(const std::string tensor, encode_literal(value));
    out.bytes_field(Field::t, tensor);
    return Field::kTensor;
  }
  core::Result<std::int64_t> operator()(const std::vector<SubgraphId>& bodies) const {
    for (const SubgraphId body : bodies) {
      AACO_ASSIGN(const std::string encoded, encode_subgraph(graph.subgraph(body)));
      out.bytes_field(bodies.size() == 1 ? Field::g : Field::graphs, encoded);
    }
    return bodies.size() == 1 ? Field::kGraph : Field::kGraphs;
  }
  core::Result<std::int64_t> operator()(const AttributeReference& value) const {
    return fail(ErrorCode::unsupported, "a reference to the attribute " + value.name + " of a function cannot be written");
  }
  core::Result<std::int64_t> operator()(const OpaqueValue& value) const {
    return fail(ErrorCode::unsupported, "cannot write an attribute of kind " + value.kind + ": its value was not loaded");
  }
};

}  // namespace

std::string encode_value_info(const TensorDescriptor& descriptor) {
  if (descriptor.type == ElementType::unknown) {  // left to the reader's inference
    WireWriter name_only;
    name_only.bytes_field(schema::ValueInfo::name, descriptor.name);
    return name_only.bytes();
  }
  WireWriter tensor;
  tensor.int_field(schema::TensorType::elem_type, onnx_number(descriptor.type));
  if (descriptor.shape) {
    WireWriter shape;
    for (const Dimension& dimension : *descriptor.shape) {
      WireWriter dim;
      if (dimension.fixed())
        dim.int_field(schema::Dim::value, dimension.size);
      else if (!dimension.symbol.empty())
        dim.bytes_field(schema::Dim::param, dimension.symbol);
      shape.bytes_field(schema::TensorShape::dim, dim.bytes());
    }
    tensor.bytes_field(schema::TensorType::shape, shape.bytes());
  }
  WireWriter type;
  type.bytes_field(schema::Type::tensor, tensor.bytes());
  WireWriter out;
  out.bytes_field(schema::ValueInfo::name, descriptor.name);
  out.bytes_field(schema::ValueInfo::type, type.bytes());
  return out.bytes();
}

core::Result<std::string> encode_node(const Graph& graph, const Node& node) {
  WireWriter out;
  for (const TensorId id : node.inputs) out.bytes_field(schema::Node::input, id.valid() ? graph.tensor(id).name : std::string());
  for (const TensorId id : node.outputs)
    out.bytes_field(schema::Node::output, id.valid() ? graph.tensor(id).name : std::string());
  out.bytes_field(schema::Node::name, node.name);
  out.bytes_field(schema::Node::op_type, node.op_type);
  for (const Attribute& attribute : node.attributes) {
    WireWriter encoded;
    encoded.bytes_field(schema::Attribute::name, attribute.name);
    AACO_ASSIGN(const std::int64_t kind, std::visit(AttributeEncoder{graph, encoded}, attribute.value));
    encoded.int_field(schema::Attribute::type, kind);
    out.bytes_field(schema::Node::attribute, encoded.bytes());
  }
  if (!node.domain.empty()) out.bytes_field(schema::Node::domain, node.domain);
  return out.bytes();
}

core::Result<std::string> encode_tensor_head(const TensorDescriptor& descriptor) {
  if (!descriptor.shape || !element_count(*descriptor.shape))
    return fail(ErrorCode::invalid_argument, "the constant '" + descriptor.name + "' has no fixed shape and cannot be written");
  WireWriter out;
  for (const Dimension& dimension : *descriptor.shape) out.int_field(schema::Tensor::dims, dimension.size);
  out.int_field(schema::Tensor::data_type, onnx_number(descriptor.type));
  if (!descriptor.name.empty()) out.bytes_field(schema::Tensor::name, descriptor.name);
  return out.bytes();
}

core::Result<std::string> encode_subgraph(const Graph& graph) {
  WireWriter out;
  for (const Node& node : graph.nodes) {
    AACO_ASSIGN(const std::string encoded, encode_node(graph, node));
    out.bytes_field(schema::Graph::node, encoded);
  }
  out.bytes_field(schema::Graph::name, graph.name);
  for (const Initializer& initializer : graph.initializers) {
    if (initializer.constant.data.empty() && !initializer.constant.location)
      return fail(ErrorCode::unsupported,
                  "the data of a constant inside a subgraph ('" + graph.tensor(initializer.tensor).name + "') is not loaded");
    AACO_ASSIGN(const std::string encoded, encode_literal({graph.tensor(initializer.tensor), initializer.constant}));
    out.bytes_field(schema::Graph::initializer, encoded);
  }
  for (const TensorId id : graph.inputs) out.bytes_field(schema::Graph::input, encode_value_info(graph.tensor(id)));
  for (const TensorId id : graph.outputs) out.bytes_field(schema::Graph::output, encode_value_info(graph.tensor(id)));
  return out.bytes();
}

}  // namespace aaco::graph::onnx
