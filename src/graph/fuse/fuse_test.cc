#include "graph/fuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class Builder {
 public:
  TensorId input(const std::string& name) {
    graph.inputs.push_back(tensor(name));
    return graph.inputs.back();
  }
  TensorId weight() {
    const TensorId id = tensor("w" + std::to_string(graph.tensors.size()));
    graph.initializers.push_back({id, {}});
    return id;
  }
  TensorId node(const std::string& op, std::vector<TensorId> inputs) {
    const TensorId out = tensor(op + std::to_string(graph.nodes.size()));
    graph.nodes.push_back({graph.tensor(out).name, op, "", std::move(inputs), {out}, {}});
    return out;
  }
  void output(TensorId id) { graph.outputs.push_back(id); }
  TensorId tensor(const std::string& name) { return graph.add_tensor({name, ElementType::float32, Shape{250}}); }
  Graph graph;
};

constexpr double kBytes = 1000;

FusionRules rules(const std::string& text) {
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const std::string path = core::join_path(folder->path(), "rules.yaml");
  EXPECT_TRUE(core::write_file_atomic(path, "schema_version: 1\nbackend: test\nsource: by hand\n" + text));
  auto loaded = load_fusion_rules(path);
  EXPECT_TRUE(loaded) << loaded.error().text();
  return loaded ? *loaded : FusionRules();
}

std::string refusal(const std::string& text) {
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const std::string path = core::join_path(folder->path(), "rules.yaml");
  EXPECT_TRUE(core::write_file_atomic(path, text));
  const auto loaded = load_fusion_rules(path);
  return loaded ? "" : loaded.error().text();
}

FusionRules conv_rules() {
  return rules(R"(
patterns:
  - name: conv_relu
    steps:
      - {id: conv, op: [Conv]}
      - {id: norm, op: [BatchNormalization], from: [conv], optional: true}
      - {id: act, op: [Relu, Clip], from: [norm]}
)");
}

TEST(Fuse, AChainBecomesOneKernelAndSavesItsTraffic) {
  Builder b;
  b.output(b.node("Relu", {b.node("BatchNormalization", {b.node("Conv", {b.input("x"), b.weight()}), b.weight()})}));
  const Fusion fusion = fuse(b.graph, conv_rules());
  ASSERT_THAT(fusion.groups, SizeIs(1));
  EXPECT_THAT(fusion.groups[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_EQ(fusion.saved_bytes, 2 * 2 * kBytes);
  EXPECT_EQ(fusion.kernels, 1U);
}
TEST(Fuse, AnOptionalStepMayBeMissing) {
  Builder b;
  b.output(b.node("Clip", {b.node("Conv", {b.input("x"), b.weight()})}));
  EXPECT_EQ(fuse(b.graph, conv_rules()).groups[0].nodes.size(), 2U);
}
TEST(Fuse, ResultReadElsewhereIsNotFusedWithReason) {
  Builder b;
  const TensorId h = b.node("Conv", {b.input("x"), b.weight()});
  b.output(b.node("Add", {b.node("Relu", {h}), h}));
  const Fusion fusion = fuse(b.graph, conv_rules());
  EXPECT_THAT(fusion.groups, SizeIs(0));
  ASSERT_THAT(fusion.not_fused, SizeIs(1));
  EXPECT_THAT(fusion.not_fused[0].reason, HasSubstr("'Conv0' is also read by 'Add2'"));
  EXPECT_EQ(fusion.kernels, 3U);
}
TEST(Fuse, GraphOutputIsNotFused) {
  Builder b;
  const TensorId h = b.node("Conv", {b.input("x"), b.weight()});
  b.output(h);
  b.output(b.node("Relu", {h}));
  EXPECT_THAT(fuse(b.graph, conv_rules()).not_fused[0].reason, HasSubstr("is an output of the graph"));
}

FusionRules gelu_rules() {
  return rules(R"(
patterns:
  - name: gelu
    steps:
      - {id: scaled, op: [Div], from: ["$x", const]}
      - {id: erf, op: [Erf], from: [scaled]}
      - {id: plus, op: [Add], from: [erf, const]}
      - {id: times, op: [Mul], from: ["$x", plus]}
      - {id: half, op: [Mul], from: [times, const]}
)");
}
TensorId gelu(Builder& b, TensorId x, TensorId other, bool turned) {
  const TensorId erf = b.node("Erf", {b.node("Div", {x, b.weight()})});
  const TensorId plus = turned ? b.node("Add", {b.weight(), erf}) : b.node("Add", {erf, b.weight()});
  const TensorId times = turned ? b.node("Mul", {plus, other}) : b.node("Mul", {other, plus});
  return b.node("Mul", {times, b.weight()});
}
TEST(Fuse, SumOperandsMatchInAnyOrder) {
  for (const bool turned : {false, true}) {
    Builder b;
    const TensorId x = b.input("x");
    b.output(gelu(b, x, x, turned));
    EXPECT_THAT(fuse(b.graph, gelu_rules()).groups, SizeIs(1)) << turned;
  }
}
TEST(Fuse, NameMatchesOneTensor) {
  Builder b;
  const TensorId x = b.input("x"), y = b.input("y");
  b.output(gelu(b, x, y, false));
  EXPECT_THAT(fuse(b.graph, gelu_rules()).groups, SizeIs(0));
}

TEST(Fuse, PointwiseChainsAndEpilogues) {
  const FusionRules pointwise = rules("pointwise: true\nepilogues: [gemm]\n");
  Builder b;
  TensorId x = b.node("MatMul", {b.input("x"), b.weight()});
  x = b.node("Relu", {b.node("Add", {x, b.weight()})});
  x = b.node("Transpose", {x});
  b.output(b.node("Exp", {b.node("Neg", {x})}));
  const Fusion fusion = fuse(b.graph, pointwise);
  ASSERT_THAT(fusion.groups, SizeIs(2));
  EXPECT_EQ(fusion.groups[0].pattern, "epilogue");
  EXPECT_THAT(fusion.groups[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_EQ(fusion.groups[1].pattern, "pointwise");
  EXPECT_THAT(fusion.groups[1].nodes, ElementsAre(4, 5));
  EXPECT_EQ(fusion.kernels, 3U);
}
TEST(Fuse, WithoutRulesEveryNodeExceptViewsAndConstantsIsAKernel) {
  Builder b;
  const TensorId folded = b.node("Neg", {b.weight()});
  b.output(b.node("Identity", {b.node("Add", {b.input("x"), folded})}));
  const Fusion fusion = fuse(b.graph, {});
  EXPECT_EQ(fusion.kernels, 1U);
  EXPECT_THAT(fusion.groups, SizeIs(0));
}

TEST(FusionRulesData, EveryFileIsRead) {
  const std::string folder = std::string(AACO_SOURCE_DIR) + "/data/fusion";
  const auto files = core::list_directory(folder);
  ASSERT_TRUE(files);
  EXPECT_GE(files->size(), 2U);
  for (const std::string& file : *files) {
    const auto loaded = load_fusion_rules(core::join_path(folder, file));
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(loaded->backend + ".yaml", file);
    EXPECT_FALSE(loaded->source.empty());
  }
}
TEST(FusionRulesRefuse, AnUnknownKey) {
  EXPECT_THAT(refusal("schema_version: 1\nbackend: a\nsource: b\npatern: []\n"), HasSubstr("rules.yaml:4"));
}
TEST(FusionRulesRefuse, AnotherVersion) {
  EXPECT_THAT(refusal("schema_version: 2\nbackend: a\nsource: b\n"), HasSubstr("schema_version 2"));
}
TEST(FusionRulesRefuse, RejectsOperandThatIsNotAStep) {
  EXPECT_THAT(
      refusal("schema_version: 1\nbackend: a\nsource: b\npatterns:\n  - name: p\n    steps:\n      - {id: one, op: [Add]}\n"
              "      - {id: two, op: [Relu], from: [three]}\n"),
      HasSubstr("'three' is not an earlier step"));
}
TEST(FusionRulesRefuse, AClassThatDoesNotExist) {
  EXPECT_THAT(refusal("schema_version: 1\nbackend: a\nsource: b\nepilogues: [gem]\n"), HasSubstr("'gem'"));
}
TEST(FusionRulesRefuse, APatternOfOneStep) {
  EXPECT_THAT(
      refusal("schema_version: 1\nbackend: a\nsource: b\npatterns:\n  - name: p\n    steps:\n      - {id: one, op: [Add]}\n"),
      HasSubstr("two steps"));
}

}  // namespace
}  // namespace aaco::graph
