#include "analytics/compiler_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::compiler {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::TensorId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Tensors by name; the first use of a name adds it.
struct Sketch {
  TensorId tensor(const std::string& name, ElementType type = ElementType::float32) {
    for (std::size_t i = 0; i < graph.tensors.size(); ++i)
      if (graph.tensors[i].name == name) return TensorId(static_cast<std::int32_t>(i));
    return graph.add_tensor({name, type, graph::Shape{4}});
  }
  Sketch& input(const std::string& name) {
    graph.inputs.push_back(tensor(name));
    return *this;
  }
  Sketch& weight(const std::string& name) {
    graph.initializers.push_back({tensor(name), {}});
    return *this;
  }
  Sketch& node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
               const std::string& domain = "") {
    std::vector<TensorId> ids;
    for (const std::string& name : inputs) ids.push_back(tensor(name));
    graph.nodes.push_back({"n_" + output, op, domain, ids, {tensor(output)}, {}});
    return *this;
  }
  Graph graph;
};

std::vector<std::string> fates(const Graph& before, const Graph& after) {
  std::vector<std::string> out;
  for (const NodeFate& one : compare_graphs(before, after).nodes) out.emplace_back(to_string(one.fate));
  return out;
}

const Graph kGemmRelu = Sketch().input("x").weight("w").node("Gemm", {"x", "w"}, "c").node("Relu", {"c"}, "y").graph;

TEST(CompareGraphs, TheSameGraphIsKept) { EXPECT_THAT(fates(kGemmRelu, kGemmRelu), ElementsAre("kept", "kept")); }
TEST(CompareGraphs, NodesOfOneKernelAreFused) {
  const Graph after = Sketch().input("x").weight("w").node("FusedGemm", {"x", "w"}, "y", "com.microsoft").graph;
  EXPECT_THAT(fates(kGemmRelu, after), ElementsAre("fused", "fused"));
}
TEST(CompareGraphs, TransposesThatCancelAreRemoved) {
  const Graph before = Sketch()
                           .input("x")
                           .node("Transpose", {"x"}, "t")
                           .node("Relu", {"t"}, "r")
                           .node("Transpose", {"r"}, "b")
                           .node("Sigmoid", {"b"}, "y")
                           .graph;
  const Graph after = Sketch().input("x").node("Relu", {"x"}, "b").node("Sigmoid", {"b"}, "y").graph;
  EXPECT_THAT(fates(before, after), ElementsAre("removed", "kept", "removed", "kept"));
}
TEST(CompareGraphs, ATransposeInAnAttributeIsFused) {
  const Graph before = Sketch().input("x").weight("w").node("Transpose", {"x"}, "t").node("Gemm", {"t", "w"}, "y").graph;
  Graph after = Sketch().input("x").weight("w").node("Gemm", {"x", "w"}, "y").graph;
  after.nodes[0].attributes.push_back({"transA", std::int64_t{1}});
  EXPECT_THAT(fates(before, after), ElementsAre("fused", "fused"));
}
TEST(CompareGraphs, AConvolutionThatAddsAnOperandComputesTheSum) {
  const Graph before = Sketch()
                           .input("x")
                           .weight("w")
                           .node("Conv", {"x", "w"}, "c")
                           .node("Add", {"c", "x"}, "s")
                           .node("Relu", {"s"}, "r")
                           .node("Neg", {"r"}, "y")
                           .graph;
  Sketch made;
  made.input("x")
      .weight("w")
      .weight("bias")
      .node("Conv", {"x", "w", "bias", "x"}, "o", "com.microsoft.nchwc")
      .node("Neg", {"o"}, "y");
  made.graph.nodes[0].name = "c_nchwc";
  EXPECT_THAT(fates(before, made.graph), ElementsAre("fused", "fused", "fused", "fused"));  // Neg has the Relu
  made.graph.nodes[0].attributes.push_back({"activation", std::string("Relu")});
  EXPECT_THAT(fates(before, made.graph), ElementsAre("fused", "fused", "fused", "kept"));
}
TEST(CompareGraphs, ADeclaredTensorThatNothingMakesDoesNotCount) {
  Sketch made;
  made.input("x").weight("w").node("FusedGemm", {"x", "w"}, "y").tensor("c");
  EXPECT_THAT(fates(kGemmRelu, made.graph), ElementsAre("fused", "fused"));
}
TEST(CompareGraphs, LayoutNodesAreInsertedAndTheKernelFoundByItsName) {
  Sketch made;
  made.input("x").weight("w").node("Conv", {"x", "w"}, "reorder", "com.microsoft.nchwc").node("ReorderOutput", {"reorder"}, "y");
  const GraphDiff diff = compare_graphs(kGemmRelu, made.graph);
  EXPECT_THAT(diff.kernels[0].nodes, ElementsAre(0, 1));
  EXPECT_EQ(diff.kernels[1].inserted, "layout");
}
// Adjacent kernels each have their own nodes: the result of the first one has a name that no tensor of the model has.
std::vector<std::vector<std::size_t>> nodes_of(const Graph& before, const Graph& after) {
  std::vector<std::vector<std::size_t>> out;
  for (const Kernel& one : compare_graphs(before, after).kernels) out.push_back(one.nodes);
  return out;
}
Sketch two_convs(const std::string& between) {
  Sketch sketch;
  sketch.input("x").weight("w").weight("v").node("Conv", {"x", "w"}, "c").node(between, {"c"}, "r").node("Conv", {"r", "v"}, "y");
  return sketch;
}
Sketch& with_activation(Sketch& sketch, const std::string& activation) {
  sketch.graph.nodes.back().attributes.push_back({"activation", activation});
  return sketch;
}
TEST(CompareGraphs, AResultNamedAfterItsNodeEndsTheKernelThere) {
  Sketch made;
  made.input("x").weight("w").weight("v").node("FusedConv", {"x", "w"}, "n_r", "com.microsoft");
  with_activation(made, "Relu").node("Conv", {"n_r", "v"}, "y");
  EXPECT_THAT(nodes_of(two_convs("Relu").graph, made.graph), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}
TEST(CompareGraphs, AnUnnamedResultEndsWhereTheNextKernelBegins) {
  Sketch made;
  made.input("x").weight("w").weight("v").node("FusedConv", {"x", "w"}, "o", "com.microsoft");
  with_activation(made, "Relu").node("Conv", {"o", "v"}, "y");
  made.graph.nodes[0].name = "made";
  EXPECT_THAT(nodes_of(two_convs("Relu").graph, made.graph), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}
TEST(CompareGraphs, TransposesThatCancelAroundAnActivationAreInNoKernel) {
  Graph before = Sketch()
                     .input("x")
                     .weight("w")
                     .weight("v")
                     .node("Conv", {"x", "w"}, "c")
                     .node("Transpose", {"c"}, "t")
                     .node("Relu", {"t"}, "r")
                     .node("Transpose", {"r"}, "u")
                     .node("Conv", {"u", "v"}, "y")
                     .graph;
  Sketch made;
  made.input("x").weight("w").weight("v").node("Conv", {"x", "w"}, "token", "com.microsoft.nchwc");
  with_activation(made, "Relu").node("Conv", {"token", "v"}, "y", "com.microsoft.nchwc");
  made.graph.nodes[0].name = "n_r_nchwc";
  const auto turn = [&](std::size_t node, const std::vector<std::int64_t>& perm) {
    before.nodes[node].attributes = {{"perm", perm}};
  };
  turn(1, {0, 2, 3, 1});
  turn(3, {0, 3, 1, 2});
  EXPECT_THAT(nodes_of(before, made.graph), ElementsAre(ElementsAre(0, 2), ElementsAre(4)));
  EXPECT_THAT(fates(before, made.graph), ElementsAre("fused", "removed", "fused", "removed", "rewritten"));
  turn(3, {0, 2, 1, 3});
  EXPECT_THAT(fates(before, made.graph), testing::Not(testing::Contains("removed")));
}
TEST(CompareGraphs, AnIntegerKernelContinuesToTheQuantisationBehindItsActivation) {
  Sketch before, made;
  before.input("x").weight("w").weight("v").weight("s");
  const auto layer = [&](const std::string& from, const std::string& weight, const std::string& to) {
    before.node("DequantizeLinear", {from, "s"}, from + "d")
        .node("Conv", {from + "d", weight}, to + "c")
        .node("Relu", {to + "c"}, to + "r")
        .node("QuantizeLinear", {to + "r", "s"}, to);
  };
  layer("x", "w", "a");
  layer("a", "v", "y");
  made.input("x").weight("w").weight("v").node("QLinearConv", {"x", "w"}, "n_ac").node("QLinearConv", {"n_ac", "v"}, "y");
  made.graph.nodes[0].name = "n_ac_token_4";
  EXPECT_THAT(nodes_of(before.graph, made.graph), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
}
TEST(CompareGraphs, ANormalisationInTheBlockedLayoutIsASeparateKernel) {
  const Graph before = Sketch()
                           .input("x")
                           .weight("w")
                           .weight("v")
                           .node("Conv", {"x", "w"}, "c")
                           .node("BatchNormalization", {"c", "w"}, "b")
                           .node("Relu", {"b"}, "r")
                           .node("Conv", {"r", "v"}, "y")
                           .node("Neg", {"c"}, "z")
                           .graph;
  Sketch made;
  made.input("x").weight("w").weight("v").node("Conv", {"x", "w"}, "c").node("Conv", {"c", "w"}, "token", "com.microsoft.nchwc");
  with_activation(made, "Relu").node("Conv", {"token", "v"}, "y").node("Neg", {"c"}, "z");
  made.graph.nodes[1].name = "b_bn_nchwc";
  EXPECT_THAT(nodes_of(before, made.graph), ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3), ElementsAre(4)));
}
TEST(CompareGraphs, ANodeThatBecomesTwoKernelsHasBoth) {
  const Graph before = Sketch().input("x").node("HardSwish", {"x"}, "y").graph;
  const Graph after = Sketch().input("x").node("HardSigmoid", {"x"}, "h").node("Mul", {"x", "h"}, "y").graph;
  const GraphDiff diff = compare_graphs(before, after);
  EXPECT_EQ(diff.kernels[0].part_of, 0);
  EXPECT_EQ(diff.nodes[0].fate, Fate::rewritten);
  EXPECT_FALSE(diff.kernels[1].part_of);
}
TEST(CompareGraphs, AWeightThatWasComputedIsFolded) {
  const Graph before = Sketch().input("x").weight("w").node("Neg", {"w"}, "v").node("Add", {"x", "v"}, "y").graph;
  const Graph after = Sketch().input("x").weight("v").node("Add", {"x", "v"}, "y").graph;
  EXPECT_THAT(fates(before, after), ElementsAre("folded", "kept"));
}
TEST(CompareGraphs, IdentityIsRemovedNotFused) {
  const Graph before = Sketch().input("x").node("Identity", {"x"}, "i").node("Relu", {"i"}, "y").graph;
  EXPECT_THAT(fates(before, Sketch().input("x").node("Relu", {"x"}, "y").graph), ElementsAre("removed", "kept"));
}
TEST(CompareGraphs, WhatChangesNothingIsRemovedNotFused) {
  for (const char* op : {"Expand", "Reshape", "Slice", "Tile", "Cast"}) {
    const Graph before =
        Sketch().input("x").weight("s").node("Neg", {"x"}, "a").node(op, {"a", "s", "s"}, "b").node("Sin", {"b"}, "y").graph;
    EXPECT_THAT(fates(before, Sketch().input("x").node("Neg", {"x"}, "a").node("Sin", {"a"}, "y").graph),
                ElementsAre("kept", "removed", "kept"))
        << op;
  }
}
TEST(CompareGraphs, SumsAndProductsWithTheirNeutralConstantAreRemoved) {
  const auto sketch = [](const char* op, float value) {
    Sketch out;
    out.input("x").node("Neg", {"x"}, "a").node(op, {"a", "k"}, "b").node("Sin", {"b"}, "y");
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    out.graph.initializers.push_back({out.tensor("k"), {bytes, std::nullopt}});
    return out.graph;
  };
  const Graph after = Sketch().input("x").node("Neg", {"x"}, "a").node("Sin", {"a"}, "y").graph;
  for (const auto& [op, value] :
       {std::pair("Add", 0.0F), std::pair("Sub", 0.0F), std::pair("Mul", 1.0F), std::pair("Div", 1.0F)}) {
    EXPECT_THAT(fates(sketch(op, value), after), ElementsAre("kept", "removed", "kept")) << op;
    EXPECT_THAT(fates(sketch(op, 2.0F), after), ElementsAre("kept", "fused", "fused")) << op;
  }
}
TEST(CompareGraphs, ANodeInAnotherLayoutOfAProviderIsTheSameNode) {
  const Graph before = Sketch().input("x").weight("w").node("Conv", {"x", "w"}, "c").node("Softmax", {"c"}, "s").graph;
  Sketch made;
  made.input("x").weight("w").node("Transpose", {"x"}, "xt").node("Conv", {"xt", "w"}, "ct", "com.ms.internal.nhwc");
  made.node("Transpose", {"ct"}, "cn").node("Softmax", {"cn"}, "s");
  made.graph.nodes[1].name = "n_c_token_1";
  EXPECT_THAT(fates(before, made.graph), ElementsAre("rewritten", "kept"));
  EXPECT_EQ(compare_graphs(before, made.graph).kernels[1].inserted, "");
}
TEST(CompareGraphs, ADuplicateIsRemoved) {
  const Graph before = Sketch().input("x").node("Neg", {"x"}, "a").node("Neg", {"x"}, "b").node("Add", {"a", "b"}, "y").graph;
  const Graph after = Sketch().input("x").node("Neg", {"x"}, "a").node("Add", {"a", "a"}, "y").graph;
  EXPECT_THAT(fates(before, after), ElementsAre("kept", "removed", "kept"));
}

graph::NearMiss miss(const std::string& reason, const std::string& level = "") {
  return {"gemm_relu", level, reason, 0, 1, std::nullopt, {0, 1}, "seen"};
}
TEST(MissedFusions, OnlyNodesThatStayedApart) {
  const Graph fused = Sketch().input("x").weight("w").node("FusedGemm", {"x", "w"}, "y").graph;
  EXPECT_THAT(missed_fusions(compare_graphs(kGemmRelu, fused), {miss("cast_between")}, "all"), SizeIs(0));
  EXPECT_THAT(missed_fusions(compare_graphs(kGemmRelu, kGemmRelu), {miss("cast_between")}, "all"), SizeIs(1));
}
TEST(MissedFusions, APairHasOneReasonAndAnExplainedOneComesFirst) {
  const auto found = missed_fusions(compare_graphs(kGemmRelu, kGemmRelu), {miss(""), miss("several_consumers")}, "all");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "several_consumers");
}
TEST(MissedFusions, ALevelWithoutThePattern) {
  const GraphDiff diff = compare_graphs(kGemmRelu, kGemmRelu);
  EXPECT_EQ(missed_fusions(diff, {miss("", "extended")}, "basic")[0].reason, "level_too_low");
  EXPECT_EQ(missed_fusions(diff, {miss("", "extended")}, "all")[0].reason, "unexplained");
}

TEST(MissedFusions, ACopyThatTheCompilerTookInIsNotMissed) {
  graph::NearMiss copied = miss("");
  copied.copied = true;
  EXPECT_EQ(missed_fusions(compare_graphs(kGemmRelu, kGemmRelu), {copied}, "all")[0].reason, "unexplained");
  const Graph taken = Sketch().input("x").weight("w").node("Gemm", {"x", "w"}, "c").node("FusedRelu", {"x"}, "y").graph;
  EXPECT_THAT(missed_fusions(compare_graphs(kGemmRelu, taken), {copied}, "all"), SizeIs(0));
}
TEST(MissedFusions, ANodeInAnotherFusionIsSaid) {
  // Gemm -> Relu -> Neg; Relu and Neg become one kernel.
  const Graph before =
      Sketch().input("x").weight("w").node("Gemm", {"x", "w"}, "c").node("Relu", {"c"}, "r").node("Neg", {"r"}, "y").graph;
  const Graph after = Sketch().input("x").weight("w").node("Gemm", {"x", "w"}, "c").node("NegRelu", {"c"}, "y").graph;
  const auto found = missed_fusions(compare_graphs(before, after), {miss("")}, "all");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "other_fusion");
  EXPECT_EQ(found[0].cause, 2U);
  EXPECT_EQ(missed_fusions(compare_graphs(before, before), {miss("")}, "all")[0].reason, "unexplained");
}

std::string refused_rules(const std::string& text) {
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const std::string path = core::join_path(folder->path(), "compiler.yaml");
  EXPECT_TRUE(core::write_file_atomic(path, text));
  const auto loaded = load_compiler_rules(path);
  return loaded ? "" : loaded.error().text();
}
TEST(CompilerRules, TheShippedFileIsRead) {
  const auto rules = load_compiler_rules(AACO_SOURCE_DIR "/data/rules/compiler.yaml");
  ASSERT_TRUE(rules) << rules.error().text();
  for (const char* id :
       {"several_consumers", "cast_between", "opset_not_covered", "provider_operator", "other_fusion", "unexplained"})
    EXPECT_NE(rules->find(id), nullptr) << id;
  EXPECT_EQ(rules->find("wings"), nullptr);
}
TEST(CompilerRulesRefuse, WrongFiles) {
  EXPECT_THAT(refused_rules("schema_version: 2\n"), HasSubstr("schema_version 2"));
  EXPECT_THAT(refused_rules("schema_version: 1\ntransparent: []\nbetween: []\nreasons: []\n"), HasSubstr("at least one reason"));
  EXPECT_THAT(refused_rules("schema_version: 1\nreason: []\n"), HasSubstr("compiler.yaml:2"));
  EXPECT_THAT(refused_rules("schema_version: 1\ntransparent: []\nbetween: []\nreasons:\n  - {id: a, title: b, remedy: c}\n"
                            "  - {id: a, title: b, remedy: c}\n"),
              HasSubstr("duplicate reason 'a'"));
}

}  // namespace
}  // namespace aaco::analytics::compiler
