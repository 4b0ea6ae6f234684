#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "graph/onnx.h"
#include "graph/onnx/schema.h"
#include "graph/onnx/wire_writer.h"

namespace aaco::graph::onnx {
namespace {

using testing::HasSubstr;

std::string node(const std::string& op_type, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  WireWriter out;
  for (const std::string& input : inputs) out.bytes_field(schema::Node::input, input);
  for (const std::string& output : outputs) out.bytes_field(schema::Node::output, output);
  out.bytes_field(schema::Node::op_type, op_type);
  return out.bytes();
}

std::string value_info(const std::string& name, std::int64_t type = 1, std::int64_t dim = 4) {
  WireWriter dims, shape, tensor, kind, out;
  dims.int_field(schema::Dim::value, dim);
  shape.bytes_field(schema::TensorShape::dim, dims.bytes());
  tensor.int_field(schema::TensorType::elem_type, type);
  tensor.bytes_field(schema::TensorType::shape, shape.bytes());
  kind.bytes_field(schema::Type::tensor, tensor.bytes());
  out.bytes_field(schema::ValueInfo::name, name);
  out.bytes_field(schema::ValueInfo::type, kind.bytes());
  return out.bytes();
}

std::string tensor(const std::string& name, std::int64_t type, const std::vector<std::int64_t>& dims, const std::string& data) {
  WireWriter out;
  for (const std::int64_t dim : dims) out.int_field(schema::Tensor::dims, dim);
  out.int_field(schema::Tensor::data_type, type);
  out.bytes_field(schema::Tensor::name, name);
  out.bytes_field(schema::Tensor::raw_data, data);
  return out.bytes();
}

std::string external(const std::string& name, const std::string& file, const std::string& offset = "0") {
  WireWriter out, location, place;
  out.int_field(schema::Tensor::dims, 100000);
  out.int_field(schema::Tensor::data_type, 1);
  out.bytes_field(schema::Tensor::name, name);
  location.bytes_field(schema::Entry::key, "location");
  location.bytes_field(schema::Entry::value, file);
  place.bytes_field(schema::Entry::key, "offset");
  place.bytes_field(schema::Entry::value, offset);
  out.bytes_field(schema::Tensor::external_data, location.bytes());
  out.bytes_field(schema::Tensor::external_data, place.bytes());
  out.int_field(schema::Tensor::data_location, 1);
  return out.bytes();
}

// A model of a graph's fields, in the order they are given.
struct GraphBytes {
  WireWriter graph;
  GraphBytes& add(std::uint32_t field, const std::string& message) {
    graph.bytes_field(field, message);
    return *this;
  }
  [[nodiscard]] std::string model() const {
    WireWriter out;
    out.int_field(schema::Model::ir_version, 8);
    out.bytes_field(schema::Model::graph, graph.bytes());
    return out.bytes();
  }
};

using G = schema::Graph;

Graph read(const GraphBytes& bytes) {
  auto graph = parse(bytes.model(), "test.onnx");
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? std::move(*graph) : Graph{};
}
std::string refusal(std::string_view bytes) {
  const auto graph = parse(bytes, "test.onnx");
  return graph ? "" : graph.error().text();
}
std::string refusal(const GraphBytes& bytes) { return refusal(bytes.model()); }

GraphBytes chain() {
  return GraphBytes{}
      .add(G::node, node("Relu", {"x"}, {"h"}))
      .add(G::node, node("Neg", {"h"}, {"y"}))
      .add(G::input, value_info("x"))
      .add(G::output, value_info("y"));
}

TEST(OnnxLoad, ReadsNodesAndTensors) {
  const Graph graph = read(chain());
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.tensor(graph.nodes[1].outputs[0]).name, "y");
  EXPECT_EQ(graph.tensor(graph.inputs[0]).shape, Shape{4});
}

TEST(OnnxLoad, SortsUnorderedNodes) {
  const Graph graph = read(GraphBytes{}
                               .add(G::node, node("Neg", {"h"}, {"y"}))
                               .add(G::node, node("Relu", {"x"}, {"h"}))
                               .add(G::input, value_info("x")));
  EXPECT_EQ(graph.nodes[0].op_type, "Relu");
}

TEST(OnnxLoad, InputWithDefaultIsNotAnInput) {
  const Graph graph = read(chain().add(G::input, value_info("w")).add(G::initializer, tensor("w", 1, {1}, "1234")));
  EXPECT_EQ(graph.inputs.size(), 1U);
}

TEST(OnnxLoad, ALeftOutInputIsNotValid) {
  const Graph graph = read(GraphBytes{}.add(G::input, value_info("x")).add(G::node, node("Clip", {"x", "", "x"}, {"y"})));
  EXPECT_FALSE(graph.nodes[0].inputs[1].valid());
}

TEST(OnnxLoad, SmallConstantsAreKeptLargeOnesLocated) {
  const std::string large(kKeptConstantBytes + 1, 'a');
  const auto size = static_cast<std::int64_t>(large.size());
  const std::string bytes =
      GraphBytes{}.add(G::initializer, tensor("s", 3, {2}, "ab")).add(G::initializer, tensor("l", 3, {size}, large)).model();
  const auto graph = parse(bytes, "test.onnx");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->initializers[0].constant.data.size(), 2U);
  EXPECT_TRUE(graph->initializers[1].constant.data.empty());
  const DataLocation& where = *graph->initializers[1].constant.location;
  EXPECT_EQ(bytes.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.bytes)), large);
}

TEST(OnnxLoad, ExternalDataIsStoredAsLocation) {
  const Graph graph = read(GraphBytes{}.add(G::initializer, external("w", "w.bin", "8")));
  EXPECT_EQ(core::base_name(graph.initializers[0].constant.location->file), "w.bin");
  EXPECT_EQ(graph.initializers[0].constant.location->offset, 8);
  EXPECT_THAT(check_external_data(graph, "test.onnx").error().text(), HasSubstr("cannot be read"));
}

TEST(OnnxLoad, AnUnknownDimensionMayBeMinusOne) {
  EXPECT_FALSE(read(GraphBytes{}.add(G::input, value_info("x", 1, -1))).tensors[0].shape->at(0).fixed());
}

TEST(OnnxLoad, EveryTruncationIsRefusedOrSmaller) {
  const std::string whole = chain().add(G::initializer, tensor("w", 1, {1}, "1234")).model();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse(std::string_view(whole).substr(0, length), "t")) << length;
}

TEST(OnnxLoad, RefusesAnEmptyFile) { EXPECT_THAT(refusal(""), HasSubstr("empty")); }
TEST(OnnxLoad, RefusesALfsPointer) {
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
}
TEST(OnnxLoad, RefusesAZipArchive) { EXPECT_THAT(refusal("PK\x03\x04 and so on"), HasSubstr("zip archive")); }
TEST(OnnxLoad, RefusesText) {
  EXPECT_THAT(refusal("<html>"), HasSubstr("text"));
  EXPECT_THAT(refusal("root:x:0:0\n"), HasSubstr("text"));
}
TEST(OnnxLoad, RefusesOtherProtobuf) { EXPECT_THAT(refusal(std::string("\x08\x08", 2)), HasSubstr("has no graph")); }
TEST(OnnxLoad, RefusesAMissingFile) { EXPECT_FALSE(load("/nonexistent/m.onnx")); }
TEST(OnnxLoad, RefusesAFolder) { EXPECT_THAT(load("/tmp").error().text(), HasSubstr("not a regular file")); }
TEST(OnnxLoad, RefusesACycle) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::node, node("Neg", {"b"}, {"a"})).add(G::node, node("Abs", {"a"}, {"b"}))),
              HasSubstr("cycle"));
}
TEST(OnnxLoad, RefusesANodeThatReadsItself) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::node, node("Neg", {"a"}, {"a"}))), HasSubstr("cycle"));
}
TEST(OnnxLoad, RefusesTwoProducers) {
  EXPECT_THAT(refusal(chain().add(G::node, node("Abs", {"x"}, {"h"}))), HasSubstr("duplicate producer"));
}
TEST(OnnxLoad, RefusesATensorFromNowhere) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::node, node("Neg", {"q"}, {"y"}))), HasSubstr("no node produces"));
}
TEST(OnnxLoad, RefusesAnOutputFromNowhere) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::output, value_info("y"))), HasSubstr("no node produces"));
}
TEST(OnnxLoad, RefusesAnUnknownElementType) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::input, value_info("x", 99))), HasSubstr("element type 99"));
}
TEST(OnnxLoad, RefusesANegativeDimension) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::input, value_info("x", 1, -2))), HasSubstr("negative size, -2"));
}
TEST(OnnxLoad, RefusesANegativeDimensionOfAConstant) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::initializer, tensor("w", 1, {-1}, ""))), HasSubstr("negative size, -1"));
}
TEST(OnnxLoad, RefusesDataThatDoesNotFitTheShape) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::initializer, tensor("w", 1, {2}, "1234"))),
              HasSubstr("4 bytes of data, but its type and shape require 8"));
}
TEST(OnnxLoad, RefusesAShapeThatOverflows) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::initializer, tensor("w", 1, {1LL << 40, 1LL << 40}, ""))), HasSubstr("overflows"));
}
TEST(OnnxLoad, RefusesAConstantWithoutAName) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::initializer, tensor("", 1, {1}, "1234"))), HasSubstr("no name"));
}
TEST(OnnxLoad, RefusesExternalDataOutsideTheFolder) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::initializer, external("w", "../../etc/passwd"))),
              HasSubstr("outside the model's folder"));
}
TEST(OnnxLoad, RefusesAnAbsoluteExternalFile) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::initializer, external("w", "/etc/passwd"))), HasSubstr("outside"));
}
TEST(OnnxLoad, RefusesANegativeOffset) {
  EXPECT_THAT(refusal(GraphBytes{}.add(G::initializer, external("w", "w", "-4"))), HasSubstr("invalid external data reference"));
}

TEST(OnnxLoad, RejectsBodyThatIsNotAGraph) {
  WireWriter attribute, holder;
  attribute.int_field(schema::Attribute::g, 5);
  holder.bytes_field(schema::Node::attribute, attribute.bytes());
  EXPECT_THAT(refusal(GraphBytes{}.add(G::node, holder.bytes())), HasSubstr("not a graph"));
}

TEST(OnnxLoad, RefusesGraphsNestedTooDeeply) {
  std::string body = node("Neg", {}, {});
  for (int depth = 0; depth < 70; ++depth) {
    WireWriter graph, attribute, holder;
    graph.bytes_field(G::node, body);
    attribute.bytes_field(schema::Attribute::g, graph.bytes());
    holder.bytes_field(schema::Node::attribute, attribute.bytes());
    body = holder.bytes();
  }
  EXPECT_THAT(refusal(GraphBytes{}.add(G::node, body)), HasSubstr("nested"));
}

TEST(OnnxTensor, KeepsAllItsData) {
  const std::string data(200000, 'x');
  const auto literal = parse_tensor(tensor("t", 3, {200000}, data), "t.pb");
  ASSERT_TRUE(literal) << literal.error().text();
  EXPECT_EQ(literal->constant.data.size(), data.size());
}
TEST(OnnxTensor, RefusesComplexNumbersStoredAsIntegers) {
  WireWriter out;
  out.int_field(schema::Tensor::dims, 1);
  out.int_field(schema::Tensor::data_type, 15);
  out.int_field(schema::Tensor::int32_data, 5);
  EXPECT_THAT(parse_tensor(out.bytes(), "t.pb").error().text(), HasSubstr("does not match its shape"));
}
TEST(OnnxTensor, RejectsInvalidTensors) { EXPECT_FALSE(parse_tensor("", "t.pb")); }
TEST(OnnxTensor, RefusesATruncatedOne) { EXPECT_FALSE(parse_tensor(tensor("t", 3, {4}, "abcd").substr(0, 8), "t.pb")); }

}  // namespace
}  // namespace aaco::graph::onnx
