#include "graph/pt2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/json.h"
#include "core/strings.h"

namespace aaco::graph::pt2 {
namespace {

using core::Json;
using testing::HasSubstr;

Json tensor_argument(const std::string& name) { return Json::object({{"as_tensor", Json::object({{"name", name}})}}); }
Json argument(const std::string& name, Json value) { return Json::object({{"name", name}, {"arg", std::move(value)}}); }
Json ints(const std::vector<std::int64_t>& values) {
  Json list = Json::array();
  for (const std::int64_t value : values) list.push(value);
  return Json::object({{"as_ints", std::move(list)}});
}

// One program: x -> nodes -> the last output.
struct Program {
  Json values = Json::object(), inputs = Json::array(), nodes = Json::array(), specs = Json::array(), results = Json::array();

  void describe(const std::string& name, const std::vector<Json>& sizes, std::int64_t type = 7) {
    Json list = Json::array();
    for (const Json& size : sizes)
      list.push(size.is_string() ? Json::object({{"as_expr", Json::object({{"expr_str", size}})}})
                                 : Json::object({{"as_int", size}}));
    values.set(name, Json::object({{"dtype", type}, {"sizes", std::move(list)}}));
  }
  void input(const std::string& name, const std::vector<Json>& sizes, const char* role = "user_input", std::int64_t type = 7) {
    describe(name, sizes, type);
    inputs.push(tensor_argument(name));
    const Json held = std::string_view(role) == "user_input" ? tensor_argument(name) : Json::object({{"name", name}});
    specs.push(Json::object({{role, Json::object({{"arg", held}})}}));
  }
  void node(const std::string& target, std::vector<Json> arguments, const std::string& output, const std::vector<Json>& sizes) {
    describe(output, sizes);
    Json outputs = Json::array();
    outputs.push(tensor_argument(output));
    nodes.push(
        Json::object({{"target", target}, {"inputs", Json::array(std::move(arguments))}, {"outputs", std::move(outputs)}}));
  }
  void result(const std::string& name) {
    results.push(Json::object({{"user_output", Json::object({{"arg", tensor_argument(name)}})}}));
  }
  [[nodiscard]] std::string text() const {
    const Json graph =
        Json::object({{"inputs", inputs}, {"outputs", Json::array()}, {"nodes", nodes}, {"tensor_values", values}});
    const Json signature = Json::object({{"input_specs", specs}, {"output_specs", results}});
    return Json::object({{"graph_module", Json::object({{"graph", graph}, {"signature", signature}})},
                         {"opset_version", Json::object({{"aten", 10}})},
                         {"torch_version", "2.7.0"},
                         {"schema_version", Json::object({{"major", 8}})}})
        .dump(-1);
  }
  [[nodiscard]] core::Result<Graph> parse() const { return parse_program(text(), "test.pt2"); }
  [[nodiscard]] std::string refusal() const {
    const auto graph = parse();
    return graph ? "" : graph.error().text();
  }
};

Program convolution() {
  Program program;
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

TEST(Pt2, ParametersAreWeightsAndTheRestAreInputs) {
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

TEST(Pt2, TheOlderSignatureIsReadToo) {
  const std::string text = core::replace_all(core::replace_all(convolution().text(), R"("input_specs")", R"("ignored")"),
                                             R"("output_specs")", R"("inputs_to_parameters":{"p_w":"w"},"ignored_too")");
  const auto graph = parse_program(text, "old.pt2");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->initializers.size(), 1U);
}

TEST(Pt2, ArithmeticOnSizesIsNoNode) {
  Program program = convolution();
  program.nodes.push(Json::object({{"target", "_operator.mul"}, {"inputs", Json::array()}, {"outputs", Json::array()}}));
  EXPECT_EQ(program.parse()->nodes.size(), 1U);
}

TEST(Pt2, AnOperatorOfAnotherLibraryKeepsItsName) {
  Program program;
  program.input("x", {4});
  program.node("torch.ops.mylib.secret.default", {argument("x", tensor_argument("x"))}, "y", {4});
  program.result("y");
  const Graph graph = program.parse().value();
  EXPECT_EQ(graph.nodes[0].domain + "." + graph.nodes[0].op_type, "mylib.secret");
}

class Seeds : public testing::TestWithParam<const char*> {};
TEST_P(Seeds, AreRead) {
  const std::string path = std::string(AACO_SOURCE_DIR) + "/tests/fixtures/fuzz/pt2_fuzz/" + GetParam();
  const auto graph = load(path);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->outputs.size(), 1U);
}
INSTANTIATE_TEST_SUITE_P(BothLayouts, Seeds, testing::Values("new_layout.pt2", "old_layout_deflated.pt2"));

TEST(Pt2, BranchesAreConditionsAndWrappedGraphsArePutIn) {
  const auto graph = load(std::string(AACO_SOURCE_DIR) + "/tests/fixtures/fuzz/pt2_fuzz/old_layout_deflated.pt2");
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[0].op_type, "relu");
  EXPECT_EQ(graph->nodes[1].op_type, "If");
  EXPECT_EQ(graph->subgraphs.size(), 2U);
}

TEST(Pt2Refuses, WhatIsNoProgram) {
  EXPECT_THAT(parse_program("{}", "x").error().text(), HasSubstr("no exported program"));
  EXPECT_FALSE(parse_program("[1, 2", "x"));
  EXPECT_FALSE(parse("PK\x03\x04 nothing", "x"));
}
TEST(Pt2Refuses, ATruncatedArchive) {
  const std::string bytes = *core::read_file(std::string(AACO_SOURCE_DIR) + "/tests/fixtures/fuzz/pt2_fuzz/new_layout.pt2");
  for (const std::size_t size : {std::size_t{10}, bytes.size() / 2, bytes.size() - 30})
    EXPECT_FALSE(parse(bytes.substr(0, size), "x"));
}
TEST(Pt2Refuses, AnUnknownElementType) {
  Program program = convolution();
  program.describe("x", {1, 3, 16, 16}, 77);
  EXPECT_THAT(program.refusal(), HasSubstr("77"));
}
TEST(Pt2Refuses, ANegativeSize) {
  Program program = convolution();
  program.describe("x", {-1, 3, 16, 16});
  EXPECT_THAT(program.refusal(), HasSubstr("negative size, -1"));
}
TEST(Pt2Refuses, ATensorThatIsReadBeforeItIsMade) {
  Program program;
  program.input("x", {4});
  program.describe("b", {4});
  program.node("torch.ops.aten.add.Tensor", {argument("self", tensor_argument("x")), argument("other", tensor_argument("b"))},
               "a", {4});
  program.node("torch.ops.aten.relu.default", {argument("self", tensor_argument("a"))}, "b", {4});
  EXPECT_THAT(program.refusal(), HasSubstr("'b' is read before any node makes it"));
}
TEST(Pt2Refuses, ATensorThatIsMadeTwice) {
  Program program = convolution();
  program.node("torch.ops.aten.relu.default", {argument("self", tensor_argument("x"))}, "y", {4});
  EXPECT_THAT(program.refusal(), HasSubstr("'y' is made twice"));
}
TEST(Pt2Refuses, ATensorWithoutADescription) {
  Program program = convolution();
  program.values = Json::object();
  EXPECT_THAT(program.refusal(), HasSubstr("no description"));
}
TEST(Pt2Refuses, AnOutputThatNothingMakes) {
  Program program = convolution();
  program.result("nowhere");
  EXPECT_THAT(program.refusal(), HasSubstr("'nowhere' is made by nothing"));
}

}  // namespace
}  // namespace aaco::graph::pt2
