#include "graph/onnx/decode_graph.h"

#include "graph/onnx/decode_attribute.h"
#include "graph/onnx/decode_tensor.h"
#include "graph/onnx/linker.h"
#include "graph/onnx/schema.h"

namespace aaco::graph::onnx {
namespace {

using core::ErrorCode;

constexpr int kMaxDepth = 64;

// The ONNX standard's own domain has two spellings.
std::string domain_of(std::string text) { return text == "ai.onnx" ? std::string() : std::move(text); }

Dimension decode_dimension(Input& input, Range range, const std::string& tensor) {
  Dimension dimension;
  input.charge(sizeof dimension);
  WireReader reader(input, range);
  for (Field field; reader.next(field);) {
    if (field.number == schema::Dim::value && field.wire == Field::varint) dimension.size = field.as_int();
    if (field.number == schema::Dim::param) dimension.symbol = text_of(input, field);
  }
  // Exporters write -1 for "unknown"; nothing else below zero means anything.
  if (dimension.size < -1)
    input.fail(ErrorCode::invalid_input, "the tensor '" + tensor + "' has a negative size, " + std::to_string(dimension.size));
  if (dimension.fixed()) dimension.symbol.clear();
  return dimension;
}

void decode_tensor_type(Input& input, Range range, TensorDescriptor& tensor) {
  WireReader reader(input, range);
  for (Field field; reader.next(field);) {
    if (field.number == schema::TensorType::elem_type) tensor.type = decode_element_type(input, field.as_int(), tensor.name);
    if (field.number != schema::TensorType::shape || field.wire != Field::bytes) continue;
    Shape shape;
    WireReader dims(input, field.range);
    for (Field dim; dims.next(dim);)
      if (dim.number == schema::TensorShape::dim && dim.wire == Field::bytes)
        shape.push_back(decode_dimension(input, dim.range, tensor.name));
    tensor.shape = std::move(shape);
  }
}

// A ValueInfoProto; sequences, maps and optional values keep an unknown type.
TensorDescriptor decode_value_info(Input& input, Range range) {
  TensorDescriptor tensor;
  std::optional<Range> type;
  WireReader reader(input, range);
  for (Field field; reader.next(field);) {
    if (field.number == schema::ValueInfo::name) tensor.name = text_of(input, field);
    if (field.number == schema::ValueInfo::type && field.wire == Field::bytes) type = field.range;
  }
  if (!type) return tensor;
  WireReader kinds(input, *type);
  for (Field field; kinds.next(field);)
    if (field.number == schema::Type::tensor && field.wire == Field::bytes) decode_tensor_type(input, field.range, tensor);
  return tensor;
}

class GraphDecoder {
 public:
  GraphDecoder(Input& input, int depth) : input_(input), depth_(depth), linker_(input, graph_) {}

  Graph run(Range range) {
    if (depth_ > kMaxDepth) {
      input_.fail(ErrorCode::invalid_input, "graphs are nested more than " + std::to_string(kMaxDepth) + " deep");
      return {};
    }
    WireReader reader(input_, range);
    for (Field field; reader.next(field);) take(field);
    linker_.finish(depth_ > 0);
    return std::move(graph_);
  }

  Function run_function(Range range) {
    Function function;
    WireReader reader(input_, range);
    for (Field field; reader.next(field);) {
      switch (field.number) {
        case schema::Function::name: function.name = text_of(input_, field); break;
        case schema::Function::domain: function.domain = domain_of(text_of(input_, field)); break;
        case schema::Function::input: graph_.inputs.push_back(linker_.tensor(text_of(input_, field))); break;
        case schema::Function::output: graph_.outputs.push_back(linker_.tensor(text_of(input_, field))); break;
        case schema::Function::node: add_node(field); break;
        case schema::Function::opset_import:
          if (field.wire == Field::bytes) decode_opset(input_, field.range, graph_.opsets);
          break;
        default: break;
      }
    }
    std::erase_if(graph_.inputs, [](TensorId id) { return !id.valid(); });
    std::erase_if(graph_.outputs, [](TensorId id) { return !id.valid(); });
    graph_.name = function.name;
    linker_.finish(false);
    function.body = std::move(graph_);
    return function;
  }

 private:
  void take(const Field& field) {
    if (field.number == schema::Graph::name) graph_.name = text_of(input_, field);
    if (field.wire != Field::bytes) return;
    switch (field.number) {
      case schema::Graph::node: add_node(field); break;
      case schema::Graph::initializer: add_initializer(decode_tensor(input_, field.range, kKeptConstantBytes)); break;
      case schema::Graph::sparse_initializer: add_sparse(field.range); break;
      case schema::Graph::input: add_declared(field.range, &graph_.inputs); break;
      case schema::Graph::output: add_declared(field.range, &graph_.outputs); break;
      case schema::Graph::value_info: add_declared(field.range, nullptr); break;
      default: break;
    }
  }

  void add_node(const Field& field) {
    if (field.wire != Field::bytes) return;
    input_.charge(sizeof(Node));
    Node node;
    WireReader reader(input_, field.range);
    for (Field part; reader.next(part);) {
      switch (part.number) {
        case schema::Node::input: add_reference(part, node.inputs); break;
        case schema::Node::output: add_reference(part, node.outputs); break;
        case schema::Node::name: node.name = text_of(input_, part); break;
        case schema::Node::op_type: node.op_type = text_of(input_, part); break;
        case schema::Node::domain: node.domain = domain_of(text_of(input_, part)); break;
        case schema::Node::attribute:
          if (part.wire == Field::bytes) node.attributes.push_back(decode_attribute(input_, part.range, graph_, depth_));
          break;
        default: break;
      }
    }
    graph_.nodes.push_back(std::move(node));
  }

  void add_reference(const Field& field, std::vector<TensorId>& out) {
    input_.charge(sizeof(TensorId));
    out.push_back(linker_.tensor(text_of(input_, field)));
  }

  void add_initializer(TensorLiteral&& literal) {
    if (input_.failed()) return;
    if (literal.descriptor.name.empty()) return input_.fail(ErrorCode::invalid_input, "a constant of the graph has no name");
    const TensorId id = linker_.tensor(literal.descriptor.name);
    graph_.tensor(id) = std::move(literal.descriptor);
    graph_.initializers.push_back({id, std::move(literal.constant)});
  }

  // Of a sparse constant only its name is taken; the dense shape is the SparseTensorProto's own.
  void add_sparse(Range range) {
    constexpr std::uint32_t kValues = 1, kDims = 3;
    TensorLiteral literal;
    std::vector<std::int64_t> dims;
    WireReader reader(input_, range);
    for (Field field; reader.next(field);) {
      if (field.number == kValues && field.wire == Field::bytes) literal = decode_tensor(input_, field.range, 0);
      if (field.number == kDims) append_ints(input_, field, dims);
    }
    literal.constant = {};
    literal.descriptor.shape = Shape(dims.begin(), dims.end());
    add_initializer(std::move(literal));
  }

  void add_declared(Range range, std::vector<TensorId>* list) {
    TensorDescriptor declared = decode_value_info(input_, range);
    if (input_.failed()) return;
    if (declared.name.empty()) return input_.fail(ErrorCode::invalid_input, "an input or output of the graph has no name");
    const TensorId id = linker_.tensor(declared.name);
    // A constant knows its own type and shape better than a declaration does.
    if (TensorDescriptor& known = graph_.tensor(id); known.type == ElementType::unknown && !known.shape)
      known = std::move(declared);
    if (list != nullptr) list->push_back(id);
  }

  Input& input_;
  int depth_;
  Graph graph_;
  Linker linker_;
};

}  // namespace

Graph decode_graph(Input& input, Range range, int depth) { return GraphDecoder(input, depth).run(range); }

Function decode_function(Input& input, Range range) { return GraphDecoder(input, 0).run_function(range); }

void decode_opset(Input& input, Range range, std::map<std::string, std::int64_t>& opsets) {
  std::string domain;
  std::int64_t version = 0;
  WireReader reader(input, range);
  for (Field field; reader.next(field);) {
    if (field.number == schema::Opset::domain) domain = domain_of(text_of(input, field));
    if (field.number == schema::Opset::version) version = field.as_int();
  }
  input.charge(128);
  opsets[domain] = version;
}

void decode_entry(Input& input, Range range, std::map<std::string, std::string>& entries) {
  std::string key, value;
  WireReader reader(input, range);
  for (Field field; reader.next(field);) {
    if (field.number == schema::Entry::key) key = text_of(input, field);
    if (field.number == schema::Entry::value) value = text_of(input, field);
  }
  input.charge(128);
  entries[key] = value;
}

}  // namespace aaco::graph::onnx
