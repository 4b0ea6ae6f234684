#include "graph/onnx/decode_attribute.h"

#include "graph/onnx/decode_graph.h"
#include "graph/onnx/decode_tensor.h"
#include "graph/onnx/schema.h"

namespace aaco::graph::onnx {
namespace {

using Schema = schema::Attribute;

struct Parts {
  std::int64_t kind = 0;
  double real = 0;
  std::int64_t integer = 0;
  std::string text;
  std::optional<TensorLiteral> tensor;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  std::vector<SubgraphId> bodies;
  std::string reference;
};

void add_body(Input& input, const Field& field, Graph& graph, int depth, std::vector<SubgraphId>& bodies) {
  if (field.wire != Field::bytes) return input.fail(core::ErrorCode::invalid_input, "the body of a node is not a graph");
  Graph body = decode_graph(input, field.range, depth + 1);
  graph.subgraphs.push_back(std::move(body));
  bodies.push_back(SubgraphId{static_cast<std::int32_t>(graph.subgraphs.size() - 1)});
}

// The kind by what is there: files older than IR version 2 do not say it.
std::int64_t guess_kind(const Parts& parts) {
  if (parts.tensor) return Schema::kTensor;
  if (!parts.bodies.empty()) return Schema::kGraph;
  if (!parts.integers.empty()) return Schema::kInts;
  if (!parts.reals.empty()) return Schema::kFloats;
  if (!parts.texts.empty()) return Schema::kStrings;
  if (!parts.text.empty()) return Schema::kString;
  return parts.real != 0 ? Schema::kFloat : Schema::kInt;
}

AttributeValue value_of(Parts&& parts) {
  if (!parts.reference.empty()) return AttributeReference{std::move(parts.reference)};
  switch (parts.kind != 0 ? parts.kind : guess_kind(parts)) {
    case Schema::kFloat: return parts.real;
    case Schema::kInt: return parts.integer;
    case Schema::kString: return std::move(parts.text);
    case Schema::kTensor:
      return parts.tensor ? AttributeValue(std::move(*parts.tensor)) : AttributeValue(OpaqueValue{"missing tensor"});
    case Schema::kGraph:
    case Schema::kGraphs: return std::move(parts.bodies);
    case Schema::kFloats: return std::move(parts.reals);
    case Schema::kInts: return std::move(parts.integers);
    case Schema::kStrings: return std::move(parts.texts);
    case Schema::kTensors: return OpaqueValue{"tensors"};
    default: return OpaqueValue{"kind " + std::to_string(parts.kind)};
  }
}

}  // namespace

Attribute decode_attribute(Input& input, Range range, Graph& graph, int depth) {
  input.charge(sizeof(Attribute));
  Attribute attribute;
  Parts parts;
  WireReader reader(input, range);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case Schema::name: attribute.name = text_of(input, field); break;
      case Schema::type: parts.kind = field.as_int(); break;
      case Schema::f: parts.real = field.as_float(); break;
      case Schema::i: parts.integer = field.as_int(); break;
      case Schema::s: parts.text = text_of(input, field); break;
      case Schema::t:
        if (field.wire == Field::bytes) parts.tensor = decode_tensor(input, field.range, kKeptConstantBytes);
        break;
      case Schema::floats: append_floats(input, field, parts.reals); break;
      case Schema::ints: append_ints(input, field, parts.integers); break;
      case Schema::strings:
        input.charge(sizeof(std::string));
        parts.texts.push_back(text_of(input, field));
        break;
      case Schema::g:
      case Schema::graphs: add_body(input, field, graph, depth, parts.bodies); break;
      case Schema::ref_attr_name: parts.reference = text_of(input, field); break;
      default: break;
    }
  }
  attribute.value = value_of(std::move(parts));
  return attribute;
}

}  // namespace aaco::graph::onnx
