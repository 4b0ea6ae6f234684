#include "graph/near_miss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::graph {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const FusionSlack kSlack{{"Identity"}, {"Cast", "Transpose"}};

FusionRules rules_of(const std::string& pattern) {
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const std::string path = core::join_path(folder->path(), "rules.yaml");
  EXPECT_TRUE(core::write_file_atomic(path, "schema_version: 1\nbackend: test\nsource: by hand\npatterns:\n" + pattern));
  auto loaded = load_fusion_rules(path);
  EXPECT_TRUE(loaded) << loaded.error().text();
  return loaded ? *loaded : FusionRules();
}
FusionRules near_rules(const std::string& conditions) {
  return rules_of(
      "  - name: gemm_relu\n" + conditions +
      "    steps:\n      - {id: gemm, op: [Gemm], from: [\"*\", const]}\n      - {id: act, op: [Relu], from: [gemm]}\n");
}

// x -> Gemm -> `between` ... -> Relu -> output.
struct Chain {
  explicit Chain(const std::vector<std::string>& between, bool weight = true) {
    graph.opsets[""] = 17;
    graph.inputs = {add("x")};
    const TensorId operand = add("w");
    if (weight)
      graph.initializers.push_back({operand, {}});
    else
      graph.inputs.push_back(operand);
    TensorId last = node("Gemm", {graph.inputs[0], operand});
    made = last;
    for (const std::string& op : between) last = node(op, {last});
    graph.outputs = {node("Relu", {last})};
  }
  TensorId add(const std::string& name) { return graph.add_tensor({name, ElementType::float32, Shape{4, 4}}); }
  TensorId node(const std::string& op, std::vector<TensorId> inputs) {
    const TensorId out = add(op);
    graph.nodes.push_back({op, op, "", std::move(inputs), {out}, {}});
    return out;
  }
  Graph graph;
  TensorId made;
};

std::string reason_of(const Graph& graph, const std::string& conditions = "") {
  const auto found = near_misses(graph, near_rules(conditions), kSlack);
  EXPECT_THAT(found, SizeIs(1));
  return found.empty() ? "nothing" : found[0].reason;
}

TEST(NearMiss, AWholePatternHasNoReason) { EXPECT_EQ(reason_of(Chain({}).graph), ""); }
TEST(NearMiss, TransparentNodesAreLookedThrough) { EXPECT_EQ(reason_of(Chain({"Identity"}).graph), ""); }
TEST(NearMiss, ACastBetween) {
  const auto found = near_misses(Chain({"Cast", "Cast"}).graph, near_rules(""), kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "cast_between");
  EXPECT_EQ(found[0].first, 0U);
  EXPECT_EQ(found[0].second, 3U);
  EXPECT_EQ(found[0].cause, 2U);
}
TEST(NearMiss, AnotherNodeBetween) { EXPECT_EQ(reason_of(Chain({"Transpose"}).graph), "node_between"); }
TEST(NearMiss, SeveralConsumers) {
  Chain chain({});
  chain.graph.outputs.push_back(chain.node("Neg", {chain.made}));
  const auto found = near_misses(chain.graph, near_rules(""), kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "several_consumers");
  EXPECT_EQ(found[0].cause, 2U);
  EXPECT_THAT(found[0].condition, HasSubstr("'Gemm' is also read by 'Neg'"));
}
TEST(NearMiss, AnOutputOfTheGraph) {
  Chain chain({});
  chain.graph.outputs.push_back(chain.made);
  EXPECT_EQ(reason_of(chain.graph), "graph_output");
}
TEST(NearMiss, AComputedOperand) { EXPECT_EQ(reason_of(Chain({}, false).graph), "operand_not_constant"); }
TEST(NearMiss, AnOperandThatIsAnInputOfTheGraph) {
  const auto found = near_misses(Chain({}, false).graph, near_rules(""), kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].first, 0U);
  EXPECT_EQ(found[0].second, 1U);
  EXPECT_FALSE(found[0].cause);
  EXPECT_THAT(found[0].condition, HasSubstr("operand 'w' of 'Gemm' is an input of the graph; the pattern requires a constant"));
}
TEST(NearMiss, SeveralOperandsOfOneNodeAreOneDeviation) {
  const auto rules = rules_of(
      "  - name: whole\n    steps:\n      - {id: gemm, op: [Gemm], from: [const, const]}\n      - {id: act, op: [Relu], from: "
      "[gemm]}\n");
  const auto found = near_misses(Chain({}, false).graph, rules, kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "operand_not_constant");
}
TEST(NearMiss, AComputedScalar) {
  const auto rules = rules_of(
      "  - name: scaled\n    steps:\n      - {id: scaled, op: [Gemm], from: [\"*\", scalar]}\n      - {id: act, op: [Relu], "
      "from: "
      "[scaled]}\n");
  Chain chain({}, false);
  EXPECT_THAT(near_misses(chain.graph, rules, kSlack), SizeIs(0));  // not one element
  chain.graph.tensor(chain.graph.inputs[1]).shape = Shape{1};
  const auto found = near_misses(chain.graph, rules, kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "operand_not_constant");
}
TEST(NearMiss, ConditionsOfThePattern) {
  const Graph graph = Chain({}).graph;
  EXPECT_EQ(reason_of(graph, "    types: [float16]\n"), "type_not_covered");
  EXPECT_EQ(reason_of(graph, "    opsets: {ai.onnx: [18, 20]}\n"), "opset_not_covered");
  EXPECT_EQ(reason_of(graph, "    ranks: [{step: gemm, operand: 0, in: [3]}]\n"), "shape_not_covered");
  EXPECT_EQ(reason_of(graph, "    types: [float32]\n    opsets: {ai.onnx: [7, 20]}\n"), "");
}
TEST(NearMiss, AttributesOfAnotherValue) {
  Chain chain({});
  const std::string mode = "    values: [{step: gemm, attribute: mode, in: [plain, 2]}]\n";
  EXPECT_EQ(reason_of(chain.graph, mode), "") << "it does not have the attribute";
  chain.graph.nodes[0].attributes = {{"mode", std::string("reflect")}};
  EXPECT_EQ(reason_of(chain.graph, mode), "attribute_not_covered");
  chain.graph.nodes[0].attributes = {{"mode", std::int64_t{2}}};
  EXPECT_EQ(reason_of(chain.graph, mode), "");
}
TEST(NearMiss, AnAxisThatIsNotTheLast) {
  Chain chain({});
  const std::string last = "    values: [{step: act, attribute: axes, last_axis: true}]\n";
  for (const std::int64_t axis : {-1, 1}) {
    chain.graph.nodes[1].attributes = {{"axes", std::vector<std::int64_t>{axis}}};
    EXPECT_EQ(reason_of(chain.graph, last), "") << axis;
  }
  chain.graph.nodes[1].attributes = {{"axes", std::vector<std::int64_t>{0}}};
  EXPECT_EQ(reason_of(chain.graph, last), "attribute_not_covered");
}
TEST(NearMiss, ConstantsOfAnotherValue) {
  Chain chain({});
  const std::string one = "    values: [{step: act, operand: 1, in: [1]}]\n";
  EXPECT_EQ(reason_of(chain.graph, one), "") << "it does not have the operand";
  const TensorId limit = chain.graph.add_tensor({"limit", ElementType::float32, Shape{}});
  chain.graph.nodes[1].inputs.push_back(limit);
  EXPECT_EQ(reason_of(chain.graph, one), "operand_not_constant");
  for (const float value : {1.0F, 1.5F}) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    chain.graph.initializers = {chain.graph.initializers.front(), {limit, {bytes, std::nullopt}}};
    EXPECT_EQ(reason_of(chain.graph, one), value == 1.0F ? "" : "value_not_covered");
  }
}
TEST(NearMiss, OperandsOfAnotherShape) {
  Graph graph;
  graph.opsets[""] = 17;
  const TensorId x = graph.add_tensor({"x", ElementType::float32, Shape{"batch", 4, 16}}),
                 q = graph.add_tensor({"q", ElementType::float32, Shape{"batch", 4, 16}}),
                 sum = graph.add_tensor({"sum", ElementType::float32, Shape{"batch", 4, 16}}),
                 y = graph.add_tensor({"y", ElementType::float32, Shape{"batch", 4, 16}});
  graph.inputs = {x, q};
  graph.outputs = {y};
  graph.nodes = {{"sum", "Add", "", {x, q}, {sum}, {}}, {"neg", "Neg", "", {sum}, {y}, {}}};
  const auto found = [&](const std::string& condition) {
    return near_misses(graph,
                       rules_of("  - name: sum_neg\n    ranks: [{step: sum, operand: 0, " + condition +
                                "}]\n    steps:\n      - {id: sum, op: [Add], from: [\"*\", \"*\"]}\n"
                                "      - {id: neg, op: [Neg], from: [sum]}\n"),
                       kSlack);
  };
  EXPECT_EQ(found("same_as: 1")[0].reason, "not_checked") << "one size is open";
  for (const TensorId operand : {x, q}) graph.tensor(operand).shape = Shape{2, 4, 16};
  EXPECT_EQ(found("same_as: 1")[0].reason, "");
  for (const TensorId operand : {x, q}) graph.tensor(operand).shape = Shape{"batch", 4, 16};
  EXPECT_THAT(found("per_channel: true")[0].condition, HasSubstr("[batch, 4, 16]; the pattern requires [C, 1, 1]"));
  graph.tensor(x).shape = Shape{"other", 4, 16};
  EXPECT_EQ(found("same_as: 1")[0].reason, "shape_not_covered");
  graph.tensor(q).shape.reset();
  EXPECT_EQ(found("same_as: 1")[0].reason, "shape_unknown");
  graph.tensor(x).shape = Shape{8, 1, 1};
  EXPECT_EQ(found("per_channel: true")[0].reason, "");
  graph.tensor(x).shape = Shape{1, 1, 1, 1};
  EXPECT_EQ(found("per_channel: true")[0].reason, "shape_not_covered");
  graph.tensor(x).shape = Shape{};
  EXPECT_EQ(found("per_channel: true, or_scalar: true")[0].reason, "");
  EXPECT_EQ(found("per_channel: true")[0].reason, "shape_not_covered");
}
// A transposition with this order of axes in front of the pattern's second node.
std::string reason_of_order(const std::vector<std::int64_t>& perm, const std::string& step = "{id: turned, op: [Transpose]}") {
  Graph graph;
  graph.opsets[""] = 17;
  const TensorId x = graph.add_tensor({"x", ElementType::float32, Shape{2, 3, 4, 5}}),
                 t = graph.add_tensor({"t", ElementType::float32, Shape{}}),
                 y = graph.add_tensor({"y", ElementType::float32, Shape{}});
  graph.tensor(x).shape = Shape(perm.size(), 4);
  graph.inputs = {x};
  graph.outputs = {y};
  graph.nodes = {{"t", "Transpose", "", {x}, {t}, {{"perm", perm}}}, {"m", "MatMul", "", {t, x}, {y}, {}}};
  const auto found = near_misses(graph,
                                 rules_of("  - name: turned\n    values: [{step: turned, attribute: perm, matrix_swap: true}]\n"
                                          "    steps:\n      - " +
                                          step + "\n      - {id: product, op: [MatMul], from: [turned, \"*\"]}\n"),
                                 kSlack);
  EXPECT_THAT(found, SizeIs(1));
  return found.empty() ? "nothing" : found[0].reason;
}
TEST(NearMiss, OrdersOfAxesThatAMatrixProductTakesIn) {
  for (const auto& perm :
       std::vector<std::vector<std::int64_t>>{{1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {0, 1, 3, 2}, {1, 2, 0, 3}, {1, 2, 3, 0}})
    EXPECT_EQ(reason_of_order(perm), "") << testing::PrintToString(perm);
  for (const auto& perm : std::vector<std::vector<std::int64_t>>{
           {2, 0, 1}, {2, 1, 0}, {0, 2, 1, 3}, {0, 2, 3, 1}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}})
    EXPECT_EQ(reason_of_order(perm), "attribute_not_covered") << testing::PrintToString(perm);
}
TEST(NearMiss, AnOverridableInitializerMayChange) {
  Chain chain({});
  chain.graph.overridable = {chain.graph.initializers.front().tensor};
  EXPECT_EQ(reason_of(chain.graph), "operand_not_constant");
}
TEST(NearMiss, NumbersAndMakersOfOperands) {
  Chain chain({});
  EXPECT_EQ(reason_of(chain.graph, "    values: [{step: gemm, inputs: 2}]\n"), "");
  EXPECT_EQ(reason_of(chain.graph, "    values: [{step: gemm, inputs: 3}]\n"), "operand_not_covered");
  EXPECT_EQ(reason_of(chain.graph, "    values: [{step: gemm, operand: 2, absent: true}]\n"), "");
  EXPECT_EQ(reason_of(chain.graph, "    values: [{step: gemm, operand: 1, absent: true}]\n"), "operand_not_covered");
  EXPECT_EQ(reason_of(chain.graph, "    values: [{step: gemm, operand: 0, types: [int8]}]\n"), "type_not_covered");
  EXPECT_EQ(reason_of(chain.graph, "    values: [{step: act, operand: 0, made_by: [Gemm], reason: layout_not_covered}]\n"), "");
  EXPECT_EQ(reason_of(chain.graph, "    values: [{step: gemm, operand: 0, made_by: [Conv], reason: layout_not_covered}]\n"),
            "layout_not_covered");
  EXPECT_EQ(reason_of(chain.graph, "    ranks: [{step: gemm, operand: 1, one_element: true}]\n"), "shape_not_covered");
  EXPECT_EQ(reason_of(chain.graph, "    ranks: [{step: gemm, operand: 1, in: [1], result_from: 3}]\n"), "");
}
TEST(NearMiss, WidthsOfPadding) {
  Chain chain({});
  const std::string spatial = "    values: [{step: act, attribute: pads, spatial_pads: true}]\n";
  const auto with = [&](std::vector<std::int64_t> pads) {
    chain.graph.nodes[1].attributes = {{"pads", std::move(pads)}};
    return reason_of(chain.graph, spatial);
  };
  EXPECT_EQ(with({0, 0, 1, 1, 0, 0, 1, 1}), "");
  EXPECT_EQ(with({0, 1, 1, 1, 0, 0, 1, 1}), "value_not_covered");
  EXPECT_EQ(with({0, 0, -1, 1, 0, 0, 1, 1}), "value_not_covered");
}
TEST(NearMiss, ASharedNodeMayHaveFurtherReaders) {
  Chain chain({});
  chain.graph.outputs.push_back(chain.node("Neg", {chain.made}));
  const auto found = near_misses(chain.graph,
                                 rules_of("  - name: p\n    steps:\n      - {id: gemm, op: [Gemm], shared: true}\n"
                                          "      - {id: act, op: [Relu], from: [gemm]}\n"),
                                 kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "");
  EXPECT_TRUE(found[0].copied);
}
TEST(NearMiss, WhatCannotBeCheckedIsSaid) {
  Chain chain({});
  const std::string rank = "    ranks: [{step: gemm, operand: 0, in: [2]}]\n";
  EXPECT_EQ(reason_of(chain.graph, rank), "");
  chain.graph.tensor(chain.graph.inputs[0]).shape.reset();
  EXPECT_EQ(reason_of(chain.graph, rank), "shape_unknown");
  EXPECT_EQ(reason_of(chain.graph, "    ranks: [{step: gemm, operand: 0, one_element: true}]\n"), "shape_unknown");
  EXPECT_EQ(reason_of(chain.graph, rank + "    values: [{step: gemm, operand: 0}]\n"), "operand_not_constant")
      << "what is known not to be met comes first";
  EXPECT_EQ(reason_of(chain.graph, "    values: [{step: gemm, operand: 1, in: [1]}]\n"), "not_checked")
      << "no data of the weight";
  chain.graph.tensor(chain.graph.outputs[0]).type = ElementType::unknown;
  EXPECT_EQ(reason_of(chain.graph, "    types: [float32]\n"), "not_checked");
  chain.graph.outputs.push_back(chain.made);
  EXPECT_EQ(reason_of(chain.graph, rank), "graph_output");
}
TEST(NearMiss, AnOperatorThatOneMayExpectInThePattern) {
  const auto rules = rules_of(
      "  - name: gemm_act\n    steps:\n      - {id: gemm, op: [Gemm], from: [\"*\", const]}\n"
      "      - {id: act, op: [Tanh], near: [Relu], from: [gemm]}\n");
  const auto found = near_misses(Chain({}).graph, rules, kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "operator_not_covered");
  EXPECT_EQ(found[0].first, 0U);
  EXPECT_EQ(found[0].second, 1U);
  EXPECT_EQ(found[0].condition, "'Relu' is Relu; the pattern requires Tanh");
  EXPECT_THAT(near_misses(Chain({}, false).graph, rules, kSlack), SizeIs(0)) << "two deviations";
  FusionRules strict = rules;
  strict.patterns[0].values.push_back({.step = "act", .operand = 0, .values = {0.5}});
  EXPECT_EQ(near_misses(Chain({}).graph, strict, kSlack)[0].reason, "operator_not_covered")
      << "conditions of the step do not count";
}
TEST(NearMiss, AResultThatMustNotBeAnOutput) {
  Chain chain({});
  EXPECT_EQ(reason_of(chain.graph, "    inner: true\n"), "graph_output");
  chain.graph.outputs = {chain.node("Neg", {chain.graph.outputs[0]})};
  EXPECT_EQ(reason_of(chain.graph, "    inner: true\n"), "");
}
TEST(NearMiss, StepsThatTheCompilerNeverFuses) {
  const auto found = near_misses(Chain({}).graph, near_rules("    lacks: Tanh in place of Relu\n"), kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "operator_not_covered");
  EXPECT_THAT(found[0].condition, HasSubstr("Tanh in place of Relu"));
}
TEST(NearMiss, FurtherConditionsAreNotChecked) {
  const auto found = near_misses(Chain({}).graph, near_rules("    further: a block of some form\n"), kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "not_checked");
  EXPECT_EQ(found[0].condition, "a block of some form");
}
TEST(NearMiss, AReaderInABodyIsAConsumer) {
  Chain chain({});
  Graph branch;
  const TensorId outer = branch.add_tensor({"Gemm", ElementType::float32, Shape{4, 4}}),
                 inner = branch.add_tensor({"inner", ElementType::float32, Shape{4, 4}});
  branch.captured = {outer};
  branch.outputs = {inner};
  branch.nodes = {{"then.tanh", "Tanh", "", {outer}, {inner}, {}}};
  chain.graph.subgraphs = {branch};
  chain.graph.outputs.push_back(chain.node("If", {chain.graph.inputs[0]}));
  chain.graph.nodes.back().attributes = {{"then_branch", std::vector<SubgraphId>{SubgraphId(0)}}};
  const auto found = near_misses(chain.graph, near_rules(""), kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "several_consumers");
  EXPECT_EQ(found[0].cause, 2U);
  EXPECT_THAT(found[0].condition, HasSubstr("also read by 'then.tanh' in then_branch of 'If'"));
}
TEST(NearMiss, AxesAsAnOperand) {
  Chain chain({});
  const std::string last = "    values: [{step: act, attribute: axes, last_axis: true}]\n";
  const TensorId axes = chain.graph.add_tensor({"axes", ElementType::int64, Shape{1}});
  chain.graph.nodes[1].inputs.push_back(axes);
  EXPECT_EQ(reason_of(chain.graph, last), "operand_not_constant");
  for (const std::int64_t axis : {-1, 0}) {
    std::vector<std::byte> bytes(sizeof axis);
    std::memcpy(bytes.data(), &axis, sizeof axis);
    chain.graph.initializers = {chain.graph.initializers.front(), {axes, {bytes, std::nullopt}}};
    EXPECT_EQ(reason_of(chain.graph, last), axis == -1 ? "" : "attribute_not_covered");
  }
}
TEST(NearMiss, AttributesComeBeforeShapes) {
  Chain chain({});
  chain.graph.nodes[1].attributes = {{"axes", std::vector<std::int64_t>{0}}};
  EXPECT_EQ(reason_of(chain.graph,
                      "    ranks: [{step: gemm, operand: 0, in: [3]}]\n"
                      "    values: [{step: act, attribute: axes, last_axis: true}]\n"),
            "attribute_not_covered");
}

TEST(NearMissNothing, BetweenTheNodesOfAStrictPattern) {
  EXPECT_THAT(near_misses(Chain({"Cast"}).graph, near_rules("    strict: true\n"), kSlack), SizeIs(0));
  EXPECT_EQ(near_misses(Chain({"Neg"}).graph, near_rules("    between: [Neg]\n"), kSlack)[0].reason, "node_between");
}
TEST(NearMissNothing, ANodeBetweenAndAnAttributeThatIsNotCovered) {
  Chain chain({"Cast"});
  chain.graph.nodes.back().attributes = {{"axis", std::int64_t{0}}};
  const std::string last = "    values: [{step: act, attribute: axis, last_axis: true}]\n";
  EXPECT_THAT(near_misses(chain.graph, near_rules(last), kSlack), SizeIs(0));
}
TEST(NearMissNothing, TwoDeviationsAreNoNearMiss) {
  EXPECT_THAT(near_misses(Chain({"Cast"}, false).graph, near_rules(""), kSlack), SizeIs(0));
}
TEST(NearMissNothing, AnotherConsumerOfAShapeThatIsNotCovered) {
  Chain chain({});
  chain.graph.outputs.push_back(chain.node("Neg", {chain.made}));
  EXPECT_THAT(near_misses(chain.graph, near_rules("    ranks: [{step: gemm, operand: 0, in: [3]}]\n"), kSlack), SizeIs(0));
}
TEST(NearMissNothing, AnUnknownNodeBetween) { EXPECT_THAT(near_misses(Chain({"Neg"}).graph, near_rules(""), kSlack), SizeIs(0)); }
TEST(NearMissNothing, EveryShippedFileOfPatternsIsRead) {
  const auto rules = load_fusion_rules(AACO_SOURCE_DIR "/data/rules/compiler_onnxruntime.yaml");
  ASSERT_TRUE(rules) << rules.error().text();
  EXPECT_GE(rules->patterns.size(), 10U);
}

}  // namespace
}  // namespace aaco::graph
