#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "core/files.h"
#include "graph/onnx.h"

namespace aaco::graph {
namespace {

// Every byte of a weight is its number's low byte plus the offset's.
class CountingWeights final : public onnx::WeightSource {
 public:
  core::Status read(std::size_t index, std::int64_t offset, std::span<std::byte> out) override {
    for (std::size_t at = 0; at < out.size(); ++at)
      out[at] = static_cast<std::byte>((index + static_cast<std::size_t>(offset) + at) & 0x3F);
    return {};
  }
};

// y = Relu(Gemm(x, w, b)) with a subgraph in an If beside it.
Graph sample() {
  Graph graph;
  graph.name = "sample";
  graph.producer = "test";
  graph.format_version = 8;
  graph.opsets = {{"", 17}};
  graph.metadata = {{"key", "value"}};
  const TensorId x = graph.add_tensor({"x", ElementType::float32, Shape{"batch", 4}});
  const TensorId w = graph.add_tensor({"w", ElementType::float32, Shape{300, 4}});
  const TensorId b = graph.add_tensor({"b", ElementType::float32, Shape{300}});
  const TensorId h = graph.add_tensor({"h", ElementType::unknown, std::nullopt});
  const TensorId y = graph.add_tensor({"y", ElementType::float32, Shape{"batch", 300}});
  graph.inputs = {x};
  graph.outputs = {y};
  graph.initializers = {{w, {}}, {b, {std::vector<std::byte>(1200), std::nullopt}}};
  graph.nodes = {{"gemm", "Gemm", "", {x, w, b}, {h}, {{"transB", std::int64_t{1}}, {"alpha", 1.0}}},
                 {"relu", "Relu", "", {h}, {y}, {}}};
  return graph;
}

class Interop : public testing::Test {
 protected:
  Interop() : folder_(*core::TemporaryDirectory::make(testing::TempDir())), path_(core::join_path(folder_.path(), "m.onnx")) {}
  ::onnx::ModelProto read_with_protobuf() {
    ::onnx::ModelProto model;
    std::ifstream file(path_, std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&file));
    return model;
  }
  void write_with_protobuf(const ::onnx::ModelProto& model) {
    std::ofstream file(path_, std::ios::binary);
    ASSERT_TRUE(model.SerializeToOstream(&file));
  }
  core::TemporaryDirectory folder_;
  std::string path_;
};

TEST_F(Interop, WrittenModelPassesChecker) {
  CountingWeights weights;
  ASSERT_TRUE(onnx::write(sample(), &weights, path_));
  const ::onnx::ModelProto model = read_with_protobuf();
  EXPECT_NO_THROW(::onnx::checker::check_model(model));
  EXPECT_EQ(model.graph().node_size(), 2);
  EXPECT_EQ(model.graph().initializer(0).raw_data().size(), 4800U);
  EXPECT_EQ(model.graph().initializer(0).raw_data()[70], 70 & 0x3F);
  EXPECT_EQ(model.opset_import(0).version(), 17);
  EXPECT_EQ(model.metadata_props(0).value(), "value");
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
}

TEST_F(Interop, ExternalDataPassesTheCheckerToo) {
  CountingWeights weights;
  ASSERT_TRUE(onnx::write(sample(), &weights, path_, {.storage = onnx::WeightStorage::external, .progress = {}}));
  EXPECT_NO_THROW(::onnx::checker::check_model(path_));
  EXPECT_EQ(read_with_protobuf().graph().initializer(0).external_data_size(), 3);
  EXPECT_EQ(core::file_size(path_ + ".data").value(), 8192 + 1200) << "two tensors, the second on a page of its own";
}

TEST_F(Interop, WrittenModelRoundTrips) {
  CountingWeights weights;
  ASSERT_TRUE(onnx::write(sample(), &weights, path_));
  const auto read = onnx::load(path_);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->inputs.size(), 1U);
  EXPECT_EQ(read->tensor(read->inputs[0]), (TensorDescriptor{"x", ElementType::float32, Shape{"batch", 4}}));
  EXPECT_EQ(read->nodes[0].int_or("transB", 0), 1);
  EXPECT_EQ(read->nodes[0].float_or("alpha", 0), 1.0);
  EXPECT_EQ(read->metadata, sample().metadata);
  EXPECT_EQ(total_constants(*read).elements, 1500);
}

TEST_F(Interop, TypedDataOfProtobufIsRead) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  auto* graph = model.mutable_graph();
  auto* ints = graph->add_initializer();
  ints->set_name("ints");
  ints->set_data_type(::onnx::TensorProto::INT64);
  ints->add_dims(3);
  for (const int value : {7, -1, 300}) ints->add_int64_data(value);
  auto* halves = graph->add_initializer();
  halves->set_name("halves");
  halves->set_data_type(::onnx::TensorProto::FLOAT16);
  halves->add_dims(1);
  halves->add_int32_data(0x3C00);
  auto* floats = graph->add_initializer();
  floats->set_name("floats");
  floats->set_data_type(::onnx::TensorProto::FLOAT);
  floats->add_dims(2);
  floats->add_float_data(1.5F);
  floats->add_float_data(-2.0F);
  write_with_protobuf(model);
  const auto read = onnx::load(path_);
  ASSERT_TRUE(read) << read.error().text();
  const auto as = [&](std::size_t index) { return read->initializers[index].constant.data; };
  std::int64_t last = 0;
  std::memcpy(&last, as(0).data() + 16, sizeof last);
  EXPECT_EQ(last, 300);
  EXPECT_EQ(as(1), (std::vector<std::byte>{std::byte{0x00}, std::byte{0x3C}}));
  EXPECT_EQ(as(2).size(), 8U);
}

TEST_F(Interop, SubgraphsAndFunctionsOfProtobufAreRead) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  auto* graph = model.mutable_graph();
  graph->add_input()->set_name("c");
  auto* relu = graph->add_node();
  relu->set_op_type("Relu");
  relu->add_input("c");
  relu->add_output("outer");
  auto* branch = graph->add_node();
  branch->set_op_type("If");
  branch->add_input("c");
  branch->add_output("y");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = branch->add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    auto* node = attribute->mutable_g()->add_node();
    node->set_op_type("Neg");
    node->add_input("outer");
    node->add_output("inner");
    attribute->mutable_g()->add_output()->set_name("inner");
  }
  graph->add_output()->set_name("y");
  auto* function = model.add_functions();
  function->set_name("f");
  function->set_domain("mine");
  function->add_input("a");
  function->add_output("b");
  auto* inside = function->add_node();
  inside->set_op_type("Abs");
  inside->add_input("a");
  inside->add_output("b");
  write_with_protobuf(model);
  const auto read = onnx::load(path_);
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->subgraphs.size(), 2U);
  ASSERT_EQ(read->subgraphs[0].captured.size(), 1U);
  EXPECT_EQ(read->subgraphs[0].tensor(read->subgraphs[0].captured[0]).name, "outer");
  ASSERT_EQ(read->functions.size(), 1U);
  EXPECT_EQ(read->functions[0].body.nodes[0].op_type, "Abs");
}

}  // namespace
}  // namespace aaco::graph
