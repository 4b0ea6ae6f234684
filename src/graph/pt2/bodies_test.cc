#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pt2_program.h"

namespace aaco::graph::pt2 {
namespace {

using testing::HasSubstr;

Json graph_argument(const std::string& name, Json body) {
  return Json::object({{"as_graph", Json::object({{"name", name}, {"graph", std::move(body)}})}});
}
Json tensors(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push(Json::object({{"name", name}}));
  return Json::object({{"as_tensors", std::move(list)}});
}
// i -> relu -> r, of that shape.
Json relu(const std::vector<Json>& shape) {
  ProgramFile body;
  body.input("i", shape);
  body.node("torch.ops.aten.relu.default", {argument("self", tensor_argument("i"))}, "r", shape);
  return body.body("r");
}
// x [5, 8], y [8] -> an operator that runs graphs -> z.
ProgramFile running(const std::string& op, std::vector<Json> arguments) {
  ProgramFile program;
  program.input("c", {}, "user_input", 12);
  program.input("x", {5, 8});
  program.input("y", {8});
  program.node("torch.ops.higher_order." + op, std::move(arguments), "z", {8});
  program.result("z");
  return program;
}

TEST(Pt2Bodies, AScanRunsOnceForEachSlice) {
  const auto graph = running("scan", {argument("combine_fn", graph_argument("f", relu({8}))), argument("init", tensors({"y"})),
                                      argument("xs", tensors({"x"}))})
                         .parse();
  ASSERT_TRUE(graph) << graph.error().text();
  const Node& node = graph->nodes[0];
  EXPECT_EQ(node.domain + "." + node.op_type, "higher_order.scan");
  EXPECT_EQ(node.int_or("scanned", -1), 1);
  ASSERT_EQ(graph->subgraphs.size(), 1U);
  EXPECT_EQ(graph->subgraphs[0].nodes[0].op_type, "relu");
  EXPECT_EQ(graph->subgraphs[0].tensors[0].name, "f/i");
}
TEST(Pt2Bodies, ALoopHasItsConditionAndItsBody) {
  const auto graph =
      running("while_loop",
              {argument("cond_fn", graph_argument("c", relu({8}))), argument("body_fn", graph_argument("b", relu({8}))),
               argument("carried_inputs", tensors({"y"})), argument("additional_inputs", tensors({}))})
          .parse();
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->subgraphs.size(), 2U);
  EXPECT_EQ(graph->nodes[0].int_or("scanned", -1), -1);
}
std::vector<Json> condition(const std::vector<std::string>& operands) {
  return {argument("pred", tensor_argument("c")), argument("true_fn", graph_argument("t", relu({8}))),
          argument("false_fn", graph_argument("f", relu({8}))), argument("operands", tensors(operands))};
}
TEST(Pt2Bodies, BranchesTakeWhatTheyReadByItsName) {
  const auto graph = running("cond", condition({"y"})).parse();
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->nodes[0].op_type, "If");
  EXPECT_EQ(graph->nodes[0].inputs.size(), 1U);
  ASSERT_EQ(graph->subgraphs.size(), 2U);
  for (const Graph& body : graph->subgraphs) {
    ASSERT_EQ(body.captured.size(), 1U);
    EXPECT_EQ(body.tensor(body.captured[0]).name, "y");
  }
  EXPECT_EQ(graph->subgraphs[1].tensor(graph->subgraphs[1].outputs[0]).name, "f/r");
}
TEST(Pt2Bodies, AnOperatorThatIsMadeFunctionalKeepsItsName) {
  const auto called = [](const std::string& name) {
    const auto graph = running("auto_functionalized_v2", {argument("_mutable_op", Json::object({{"as_operator", name}})),
                                                          argument("x", tensor_argument("y"))})
                           .parse();
    return graph ? graph->nodes[0].domain + "." + graph->nodes[0].op_type : graph.error().text();
  };
  EXPECT_EQ(called("torch.ops.mylib.write_into.default"), "mylib.write_into");
  EXPECT_EQ(called(""), "higher_order.auto_functionalized_v2");
}
TEST(Pt2Bodies, ABranchThatTakesMoreThanItIsGivenIsRefused) {
  EXPECT_THAT(running("cond", condition({})).refusal(), HasSubstr("branch of a condition has more inputs"));
}
TEST(Pt2Bodies, ALoopThatAnswersWhatNothingMakesIsRefused) {
  ProgramFile body;
  body.input("i", {8});
  EXPECT_THAT(running("scan", {argument("combine_fn", graph_argument("f", body.body("nowhere"))), argument("xs", tensors({"x"}))})
                  .refusal(),
              HasSubstr("'nowhere'"));
}

}  // namespace
}  // namespace aaco::graph::pt2
