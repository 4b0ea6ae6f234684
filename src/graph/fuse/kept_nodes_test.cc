#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "core/files.h"
#include "graph/near_miss.h"
#include "tests/support/source_dir.h"

namespace aaco::graph {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const FusionSlack kSlack{{}, {}};

// ONNX Runtime's eliminations as they are shipped.
const FusionRules& shipped() {
  static const FusionRules rules = [] {
    auto loaded = load_fusion_rules(AACO_SOURCE_DIR "/data/rules/compiler_onnxruntime.yaml");
    EXPECT_TRUE(loaded) << loaded.error().text();
    FusionRules out;
    if (loaded) out.eliminations = loaded->eliminations;
    return out;
  }();
  return rules;
}

// x -> Relu -> `r`, to which nodes are added.
struct Model {
  Model() {
    graph.opsets[""] = 17;
    graph.inputs = {add("x")};
    node("Relu", {graph.inputs[0]}, "r");
  }
  TensorId add(const std::string& name, Shape shape = {"b", "s", 16}, ElementType type = ElementType::float32) {
    return graph.add_tensor({name, type, std::move(shape)});
  }
  TensorId id(const std::string& name) const {
    for (std::size_t i = 0; i < graph.tensors.size(); ++i)
      if (graph.tensors[i].name == name) return TensorId(static_cast<std::int32_t>(i));
    return {};
  }
  template <class T>
  TensorId constant(const std::string& name, const std::vector<T>& values, Shape shape, ElementType type) {
    const TensorId made = add(name, std::move(shape), type);
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    graph.initializers.push_back({made, {bytes, std::nullopt}});
    return made;
  }
  TensorId reals(const std::string& name, const std::vector<float>& values, Shape shape) {
    return constant(name, values, std::move(shape), ElementType::float32);
  }
  TensorId sizes(const std::string& name, const std::vector<std::int64_t>& values, bool is_scalar = false) {
    return constant(name, values, is_scalar ? Shape{} : Shape{static_cast<std::int64_t>(values.size())}, ElementType::int64);
  }
  TensorId node(const std::string& op, std::vector<TensorId> inputs, const std::string& name, Shape shape = {"b", "s", 16},
                ElementType type = ElementType::float32) {
    const TensorId out = add(name, std::move(shape), type);
    graph.nodes.push_back({name, op, "", std::move(inputs), {out}, {}});
    return out;
  }
  // Ends the graph behind `last`; the reason of the only node that may be expected to be gone.
  std::string reason(TensorId last, bool is_output = false) {
    graph.outputs = {is_output ? last : node("Tanh", {last}, "y")};
    const auto found = near_misses(graph, shipped(), kSlack);
    EXPECT_THAT(found, SizeIs(testing::Le(1)));
    told = found.empty() ? NearMiss() : found.front();
    return found.empty() ? "nothing" : told.reason;
  }
  Graph graph;
  NearMiss told;
};

TEST(KeptNodes, AnIdentityIsKeptAsAnOutput) {
  Model within, at_the_end;
  EXPECT_EQ(within.reason(within.node("Identity", {within.id("r")}, "i")), "");
  EXPECT_EQ(at_the_end.reason(at_the_end.node("Identity", {at_the_end.id("r")}, "i"), true), "graph_output");
}
TEST(KeptNodes, AnInputThatIsAnOutputTooNeedsItsIdentity) {
  Model model;
  EXPECT_EQ(model.reason(model.node("Identity", {model.graph.inputs[0]}, "i"), true), "nothing");
}
TEST(KeptNodes, ADropoutWhoseMaskIsRead) {
  Model model;
  const TensorId out = model.node("Dropout", {model.id("r")}, "drop");
  EXPECT_EQ(Model(model).reason(out), "");
  const TensorId mask = model.add("mask");
  model.graph.nodes.back().outputs.push_back(mask);
  EXPECT_EQ(Model(model).reason(out), "") << "nothing reads the mask";
  model.node("Neg", {mask}, "reader");
  EXPECT_EQ(model.reason(out), "several_consumers");
  EXPECT_EQ(model.graph.nodes[model.told.first].name, "drop");
  EXPECT_EQ(model.graph.nodes[model.told.second].name, "reader");
}
TEST(KeptNodes, OnlyTheLargestEndMakesASliceWhole) {
  const auto cut = [](std::int64_t end, std::int64_t start = 0) {
    Model model;
    return model.reason(model.node(
        "Slice", {model.id("r"), model.sizes("st", {start}), model.sizes("en", {end}), model.sizes("ax", {1})}, "cut"));
  };
  EXPECT_EQ(cut(std::numeric_limits<std::int64_t>::max()), "");
  EXPECT_EQ(cut(512), "value_not_covered");
  EXPECT_EQ(cut(1), "nothing") << "the first token is meant";
  EXPECT_EQ(cut(512, 1), "nothing");
}
TEST(KeptNodes, NeutralElements) {
  const auto sum = [](const std::string& op, float value, const Shape& shape, std::size_t count, bool overridable = false) {
    Model model;
    const TensorId k = model.reals("k", std::vector<float>(count, value), shape);
    if (overridable) model.graph.overridable = {k};
    return model.reason(model.node(op, {model.id("r"), k}, "op"));
  };
  EXPECT_EQ(sum("Add", 0, {}, 1), "");
  EXPECT_EQ(sum("Div", 1, {1, 1, 1}, 1), "");
  EXPECT_EQ(sum("Sub", 0, {1, 1, 1, 1}, 1), "shape_not_covered");
  EXPECT_EQ(sum("Mul", 1, {16}, 16), "shape_not_covered");
  EXPECT_EQ(sum("Add", 0, {}, 1, true), "operand_not_constant");
  EXPECT_EQ(sum("Add", 1, {}, 1), "nothing");
  EXPECT_EQ(sum("Mul", 0, {}, 1), "nothing");
  Model first;
  EXPECT_EQ(first.reason(first.node("Sub", {first.reals("k", {0}, {}), first.id("r")}, "op")), "nothing") << "0 - x is not x";
  Model unknown;
  unknown.graph.tensor(unknown.id("r")).shape.reset();
  EXPECT_EQ(unknown.reason(unknown.node("Add", {unknown.id("r"), unknown.reals("k", {0}, {})}, "op")), "shape_unknown");
}
TEST(KeptNodes, AConversionThatIsTakenBack) {
  const auto there_and_back = [](ElementType middle) {
    Model model;
    return model.reason(model.node("Cast", {model.node("Cast", {model.id("r")}, "c1", {"b", "s", 16}, middle)}, "c2"));
  };
  EXPECT_EQ(there_and_back(ElementType::float64), "");
  for (const ElementType middle : {ElementType::float16, ElementType::bfloat16, ElementType::int32, ElementType::int64})
    EXPECT_EQ(there_and_back(middle), "type_not_covered") << to_string(middle);
}
TEST(KeptNodes, WhatIsComputedFromConstants) {
  Model random, folded, replaceable;
  const TensorId noise = random.node("RandomNormal", {}, "noise", {16});
  EXPECT_EQ(random.reason(random.node(
                "Add", {random.id("r"), random.node("Mul", {noise, random.reals("k", {2}, {})}, "scale", {16})}, "sum")),
            "not_deterministic");
  EXPECT_EQ(random.graph.nodes[random.told.second].name, "scale");
  EXPECT_EQ(
      folded.reason(folded.node("Add", {folded.id("r"), folded.node("Sin", {folded.reals("w", {2}, {1})}, "sine", {1})}, "sum")),
      "");
  const TensorId w = replaceable.reals("w", {2}, {1});
  replaceable.graph.overridable = {w};
  EXPECT_EQ(replaceable.reason(replaceable.node("Add", {replaceable.id("r"), replaceable.node("Sin", {w}, "sine", {1})}, "sum")),
            "operand_not_constant");
}
TEST(KeptNodes, WhatChangesNothingAndHasNoElimination) {
  Model joined, turned, turned_back;
  EXPECT_EQ(joined.reason(joined.node("Concat", {joined.id("r")}, "one")), "operator_not_covered");
  turned.node("Transpose", {turned.id("r")}, "t");
  turned.graph.nodes.back().attributes = {{"perm", std::vector<std::int64_t>{0, 1, 2}}};
  EXPECT_EQ(turned.reason(turned.id("t")), "operator_not_covered");
  turned_back.add("square", {4, 4});
  turned_back.node("Transpose", {turned_back.id("r")}, "t");
  turned_back.graph.nodes.back().attributes = {{"perm", std::vector<std::int64_t>{1, 0, 2}}};
  EXPECT_EQ(turned_back.reason(turned_back.id("t")), "nothing");
}

// Reshape of `r` to sizes of it, taken at these places, and to these constants; -2: twice a size.
struct Heads : Model {
  TensorId size(std::int64_t axis, std::size_t number) {
    const std::string suffix = std::to_string(number);
    const TensorId taken =
        node("Gather", {node("Shape", {id("r")}, "shape" + suffix, {3}, ElementType::int64), sizes("i" + suffix, {axis}, true)},
             "gather" + suffix, {}, ElementType::int64);
    return node("Unsqueeze", {taken, sizes("u" + suffix, {0})}, "wide" + suffix, {1}, ElementType::int64);
  }
  std::string of(const std::vector<std::int64_t>& axes, const std::vector<std::int64_t>& constants) {
    std::vector<TensorId> parts;
    for (const std::int64_t axis : axes) {
      const TensorId part = size(std::abs(axis), parts.size());
      parts.push_back(axis >= 0 ? part
                                : node("Mul", {part, part}, "twice" + std::to_string(parts.size()), {1}, ElementType::int64));
    }
    for (const std::int64_t one : constants) parts.push_back(sizes("c" + std::to_string(parts.size()), {one}));
    joint = node("Concat", parts, "joint", {static_cast<std::int64_t>(parts.size())}, ElementType::int64);
    return reason(node("Reshape", {id("r"), joint}, "heads", {"p", "q", 4, 4}));
  }
  TensorId joint;
};
TEST(KeptNodes, AShapeOfSizesAtTheirOwnPlaces) {
  EXPECT_EQ(Heads().of({0, 1}, {4, 4}), "");
  EXPECT_EQ(Heads().of({0}, {-1, 16}), "");
  EXPECT_EQ(Heads().of({0, -1}, {4, 8}), "") << "one computed part stays open";
}
TEST(KeptNodes, AShapeOfSizesAtOtherPlaces) {
  Heads swapped;
  EXPECT_EQ(swapped.of({1, 0}, {4, 4}), "value_not_covered");
  EXPECT_EQ(swapped.graph.nodes[swapped.told.first].name, "gather0");
  EXPECT_EQ(swapped.graph.nodes[swapped.told.second].name, "joint");
  EXPECT_THAT(swapped.told.condition, HasSubstr("takes size 1 of 'r' and is part 0 of the shape"));
  EXPECT_EQ(Heads().of({0, -1}, {-1}), "value_not_covered") << "two open parts";
}
TEST(KeptNodes, AShapeThatIsReadElsewhere) {
  Heads heads;
  heads.of({0, 1}, {4, 4});
  heads.graph.nodes.pop_back();
  heads.node("Neg", {heads.joint}, "reader", {4}, ElementType::int64);
  heads.graph.outputs = {heads.id("heads")};
  const auto found = near_misses(heads.graph, shipped(), kSlack);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "several_consumers");
}
TEST(KeptNodesNothing, OfNodesThatDoSomething) {
  Model model;
  model.node("Reshape", {model.id("r"), model.sizes("s", {0, -1})}, "flat", {"b", "m"});
  model.graph.outputs = {model.id("flat")};
  EXPECT_THAT(near_misses(model.graph, shipped(), kSlack), IsEmpty());
}
TEST(KeptNodesRefuses, FilesWithErrors) {
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const std::string path = core::join_path(folder->path(), "rules.yaml");
  for (const char* item :
       {"{name: a, op: [Add]}", "{name: a, op: [Add], expected: often}", "{name: a, expected: always}",
        "{name: a, op: [Add], expected: always, unread: [-1]}", "{name: a, op: [Add], expected: always, steps: []}"}) {
    ASSERT_TRUE(core::write_file_atomic(
        path, std::string("schema_version: 1\nbackend: b\nsource: s\neliminations:\n  - ") + item + "\n"));
    EXPECT_FALSE(load_fusion_rules(path)) << item;
  }
}

}  // namespace
}  // namespace aaco::graph
