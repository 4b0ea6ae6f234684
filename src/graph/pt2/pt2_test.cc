#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/strings.h"
#include "tests/support/pt2_program.h"
#include "tests/support/source_dir.h"

namespace aaco::graph::pt2 {
namespace {

using testing::HasSubstr;

ProgramFile convolution() {
  ProgramFile program;
  program.input("p_w", {8, 3, 3, 3}, "parameter");
  program.input("x", {"Symbol('s0', positive=True, integer=True)", 3, 16, 16});
  program.node(
      "torch.ops.aten.conv2d.default",
      {argument("input", tensor_argument("x")), argument("weight", tensor_argument("p_w")),
       argument("bias", Json::object({{"as_none", true}})), argument("stride", ints({2, 2})), argument("padding", ints({1}))},
      "y", {"Symbol('s0', positive=True, integer=True)", 8, 8, 8});
  program.result("y");
  return program;
}

TEST(Pt2, OperatorsHaveTheirDomainAndTheirAttributes) {
  const auto graph = convolution().parse();
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->nodes.size(), 1U);
  const Node& node = graph->nodes[0];
  EXPECT_EQ(node.domain, "aten");
  EXPECT_EQ(node.op_type, "conv2d");
  EXPECT_EQ(node.inputs.size(), 2U);  // the bias is left out
  EXPECT_EQ(node.ints_or("strides", {}), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(node.ints_or("pads", {}), (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(graph->opsets.at("aten"), 10);
  EXPECT_EQ(graph->producer, "PyTorch 2.7.0");
  EXPECT_EQ(graph->format_version, 8);
}

TEST(Pt2, ParametersAreWeightsAndOthersAreInputs) {
  const Graph graph = convolution().parse().value();
  EXPECT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.initializers.size(), 1U);
  EXPECT_EQ(total_constants(graph).elements, 8 * 3 * 9);
}

TEST(Pt2, SymbolsKeepTheirNames) {
  const Graph graph = convolution().parse().value();
  EXPECT_EQ(to_string(*graph.tensor(graph.inputs[0]).shape), "[s0, 3, 16, 16]");
  EXPECT_EQ(to_string(*graph.tensor(graph.outputs[0]).shape), "[s0, 8, 8, 8]");
}

// What the size of s0 becomes.
std::string bound_to(const ProgramFile& program, const Bindings& given) {
  Source source = parse_program(program.text(), "test.pt2").value();
  const auto bound = bind_dimensions(source.graph, given, source.ranges);
  return bound ? to_string(*source.graph.tensor(source.graph.inputs[0]).shape) : bound.error().text();
}
ProgramFile ranged() {
  ProgramFile program = convolution();
  program.bound("s0", 2, 1024);
  return program;
}
TEST(Pt2Ranges, ASizeBetweenTheBoundsIsTaken) { EXPECT_EQ(bound_to(ranged(), {{"s0", 1024}}), "[1024, 3, 16, 16]"); }
TEST(Pt2Ranges, ASizeBeyondThemIsRefused) {
  EXPECT_THAT(bound_to(ranged(), {{"s0", 1025}}), HasSubstr("exported for 0 to 1024"));
  ProgramFile program = ranged();
  program.bound("s0", 8, Json());
  EXPECT_THAT(bound_to(program, {{"s0", 4}}), HasSubstr("exported for 8 or more"));
}
TEST(Pt2Ranges, LowerBoundOfTwoIsIgnored) { EXPECT_EQ(bound_to(ranged(), {{"s0", 1}}), "[1, 3, 16, 16]"); }
TEST(Pt2Ranges, TheLargestIntegersAreNoBounds) {
  ProgramFile program = ranged();
  program.bound("s0", 0, INT64_MAX - 1);
  EXPECT_EQ(bound_to(program, {{"s0", 5'000'000}}), "[5000000, 3, 16, 16]");
}
TEST(Pt2Ranges, DefaultSizeIsWithinBounds) {
  ProgramFile program = ranged();
  program.bound("s0", 16, 64);
  EXPECT_EQ(bound_to(program, {}), "[16, 3, 16, 16]");
}
TEST(Pt2Ranges, ExampleSizeIsUsedForNonBatchDimensions) {
  ProgramFile program;
  program.describe("x", {1, "Symbol('s1', positive=True, integer=True)"});
  program.inputs.push(tensor_argument("x"));
  program.specs.push(Json::object({{"user_input", Json::object({{"arg", tensor_argument("x")}})}}));
  const std::string text = core::replace_all(program.text(), R"x(integer=True)")x", R"x(integer=True)","hint":{"as_int":77})x");
  Source source = parse_program(text, "x").value();
  ASSERT_TRUE(source.ranges.contains("s1"));
  EXPECT_EQ(source.ranges.at("s1").example, 77);
  ASSERT_TRUE(bind_dimensions(source.graph, {}, source.ranges));
  EXPECT_EQ(to_string(*source.graph.tensor(source.graph.inputs[0]).shape), "[1, 77]");
}

TEST(Pt2, WeightsOfOnePlaceAreOne) {
  ProgramFile program;
  program.input("p_a", {4, 8}, "parameter");
  program.input("p_b", {4, 8}, "parameter");
  program.input("x", {2, 8});
  program.node("torch.ops.aten.linear.default",
               {argument("input", tensor_argument("x")), argument("weight", tensor_argument("p_b"))}, "y", {2, 4});
  program.result("y");
  const std::string text =
      core::replace_all(core::replace_all(program.text(), R"({"name":"p_a"}})", R"({"name":"p_a"},"parameter_name":"a"})"),
                        R"({"name":"p_b"}})", R"({"name":"p_b"},"parameter_name":"b"})");
  const auto weights = [&](const StoredWeights& stored) {
    return total_constants(parse_program(text, "x", stored).value().graph).elements;
  };
  EXPECT_EQ(weights({{"a", "weight_0|f32"}, {"b", "weight_0|f32"}}), 32);
  EXPECT_EQ(weights({{"a", "weight_0|f32"}, {"b", "weight_1|f32"}}), 64);
  EXPECT_EQ(weights({}), 64);
}

TEST(Pt2Refuses, ANewerSchema) {
  ProgramFile program = convolution();
  program.schema = Json::object({{"major", 99}});
  EXPECT_THAT(program.refusal(), HasSubstr("version 99: AACO supports up to 8"));
}
TEST(Pt2Refuses, NonNumericSchemaVersion) {
  ProgramFile program = convolution();
  program.schema = Json::object({{"major", "new"}});
  EXPECT_THAT(program.refusal(), HasSubstr("is not a number"));
  program.schema = -3;
  EXPECT_THAT(program.refusal(), HasSubstr("is not a number"));
}
TEST(Pt2, SchemasBeforeEightAreRead) {
  ProgramFile program = convolution();
  for (const Json& schema : {Json(1), Json(), Json::object({{"major", 5}})}) {
    program.schema = schema;
    EXPECT_EQ(program.refusal(), "");
  }
}

TEST(Pt2, TheOlderSignatureIsReadToo) {
  const std::string text = core::replace_all(core::replace_all(convolution().text(), R"("input_specs")", R"("ignored")"),
                                             R"("output_specs")", R"("inputs_to_parameters":{"p_w":"w"},"ignored_too")");
  const auto source = parse_program(text, "old.pt2");
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(source->graph.initializers.size(), 1U);
}

TEST(Pt2, SizeArithmeticIsNotANode) {
  ProgramFile program = convolution();
  program.nodes.push(Json::object({{"target", "_operator.mul"}, {"inputs", Json::array()}, {"outputs", Json::array()}}));
  EXPECT_EQ(program.parse()->nodes.size(), 1U);
}

TEST(Pt2, AnOperatorOfAnotherLibraryKeepsItsName) {
  ProgramFile program;
  program.input("x", {4});
  program.node("torch.ops.mylib.secret.default", {argument("x", tensor_argument("x"))}, "y", {4});
  program.result("y");
  const Graph graph = program.parse().value();
  EXPECT_EQ(graph.nodes[0].domain + "." + graph.nodes[0].op_type, "mylib.secret");
}

class Seeds : public testing::TestWithParam<const char*> {};
TEST_P(Seeds, AreRead) {
  const std::string path = std::string(AACO_SOURCE_DIR) + "/tests/fixtures/fuzz/pt2_fuzz/" + GetParam();
  const auto source = load(path);
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(source->graph.outputs.size(), 1U);
}
INSTANTIATE_TEST_SUITE_P(BothLayouts, Seeds, testing::Values("new_layout.pt2", "old_layout_deflated.pt2"));

TEST(Pt2, BranchesAreConditionsAndWrappedGraphsArePutIn) {
  const auto source = load(std::string(AACO_SOURCE_DIR) + "/tests/fixtures/fuzz/pt2_fuzz/old_layout_deflated.pt2");
  ASSERT_TRUE(source) << source.error().text();
  const Graph* graph = &source->graph;
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[0].op_type, "relu");
  EXPECT_EQ(graph->nodes[1].op_type, "If");
  EXPECT_EQ(graph->subgraphs.size(), 2U);
}

TEST(Pt2Refuses, NotAProgram) {
  EXPECT_THAT(parse_program("{}", "x").error().text(), HasSubstr("not an exported program"));
  EXPECT_FALSE(parse_program("[1, 2", "x"));
  EXPECT_FALSE(parse("PK\x03\x04 nothing", "x"));
}
TEST(Pt2Refuses, ATruncatedArchive) {
  const std::string bytes = *core::read_file(std::string(AACO_SOURCE_DIR) + "/tests/fixtures/fuzz/pt2_fuzz/new_layout.pt2");
  for (const std::size_t size : {std::size_t{10}, bytes.size() / 2, bytes.size() - 30})
    EXPECT_FALSE(parse(bytes.substr(0, size), "x"));
}
TEST(Pt2Refuses, AnUnknownElementType) {
  ProgramFile program = convolution();
  program.describe("x", {1, 3, 16, 16}, 77);
  EXPECT_THAT(program.refusal(), HasSubstr("77"));
}
TEST(Pt2Refuses, ANegativeSize) {
  ProgramFile program = convolution();
  program.describe("x", {-1, 3, 16, 16});
  EXPECT_THAT(program.refusal(), HasSubstr("negative size, -1"));
}
TEST(Pt2Refuses, ATensorThatIsReadBeforeItIsMade) {
  ProgramFile program;
  program.input("x", {4});
  program.describe("b", {4});
  program.node("torch.ops.aten.add.Tensor", {argument("self", tensor_argument("x")), argument("other", tensor_argument("b"))},
               "a", {4});
  program.node("torch.ops.aten.relu.default", {argument("self", tensor_argument("a"))}, "b", {4});
  EXPECT_THAT(program.refusal(), HasSubstr("'b' is read before it is produced"));
}
TEST(Pt2Refuses, DuplicateProducer) {
  ProgramFile program = convolution();
  program.node("torch.ops.aten.relu.default", {argument("self", tensor_argument("x"))}, "y", {4});
  EXPECT_THAT(program.refusal(), HasSubstr("'y' has more than one producer"));
}
TEST(Pt2Refuses, ATensorWithoutADescription) {
  ProgramFile program = convolution();
  program.values = Json::object();
  EXPECT_THAT(program.refusal(), HasSubstr("no description"));
}
TEST(Pt2Refuses, AnOutputThatNothingMakes) {
  ProgramFile program = convolution();
  program.result("nowhere");
  EXPECT_THAT(program.refusal(), HasSubstr("no node produces the output 'nowhere'"));
}

}  // namespace
}  // namespace aaco::graph::pt2
