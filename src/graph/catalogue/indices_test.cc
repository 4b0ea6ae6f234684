#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "graph/shapes.h"

namespace aaco::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kRows = 1024;

// A table of 1,024 rows that some operator reads.
struct Model {
  Graph graph;
  TensorId table;

  Model() {
    graph.opsets[""] = 17;
    table = graph.add_tensor({"table", ElementType::float32, Shape{kRows, 8}});
    graph.initializers = {{table, {}}};
  }
  TensorId input(const char* name, Shape shape) {
    const TensorId id = graph.add_tensor({name, ElementType::int64, std::move(shape)});
    graph.inputs.push_back(id);
    return id;
  }
  TensorId numbers(const std::vector<std::int64_t>& values, Shape shape) {
    const TensorId id = graph.add_tensor({"c" + std::to_string(graph.tensors.size()), ElementType::int64, std::move(shape)});
    std::vector<std::byte> data(values.size() * sizeof(std::int64_t));
    std::memcpy(data.data(), values.data(), data.size());
    graph.initializers.push_back({id, {std::move(data), {}}});
    return id;
  }
  TensorId node(const char* op, std::vector<TensorId> inputs, std::vector<Attribute> attributes = {}) {
    const TensorId id = graph.add_tensor({"t" + std::to_string(graph.tensors.size()), ElementType::unknown, {}});
    graph.nodes.push_back({op, op, "", std::move(inputs), {id}, std::move(attributes)});
    return id;
  }
  TensorId range(std::int64_t limit) { return node("Range", {numbers({0}, {}), numbers({limit}, {}), numbers({1}, {})}); }
  std::vector<std::string> problems() {
    graph.outputs = {graph.nodes.back().outputs[0]};
    return infer_shapes(graph).problems;
  }
};

std::vector<std::string> looked_up(const std::vector<std::int64_t>& indices) {
  Model model;
  model.node("Gather", {model.table, model.numbers(indices, {static_cast<std::int64_t>(indices.size())})});
  return model.problems();
}
std::vector<std::string> range_of(std::int64_t length) {
  Model model;
  const TensorId row = model.node("Unsqueeze", {model.range(length), model.numbers({0}, {1})});
  model.node("Gather", {model.table, model.node("Cast", {row}, {{"to", std::int64_t{7}}})});
  return model.problems();
}
std::vector<std::string> positions(std::int64_t batch, std::int64_t fresh, std::int64_t seen) {
  Model model;
  const TensorId ids = model.input("position_ids", {batch, fresh});
  model.input("attention_mask", {batch, seen});
  model.node("Gather", {model.table, ids});
  return model.problems();
}

TEST(Indices, TableEntriesAreUsed) {
  EXPECT_THAT(looked_up({0, 1023, -1, -1024}), IsEmpty());
  EXPECT_THAT(range_of(kRows), IsEmpty());
  EXPECT_THAT(range_of(0), IsEmpty());
}
TEST(Indices, OutOfTableIndicesAreRejected) {
  EXPECT_THAT(looked_up({3, 1024}), ElementsAre(HasSubstr("the indices reach 1024, but there are 1024 entries")));
  EXPECT_THAT(looked_up({-1025}), ElementsAre(HasSubstr("reach -1025")));
  EXPECT_THAT(range_of(kRows + 1), ElementsAre(HasSubstr("reach 1024")));
  EXPECT_THAT(range_of(100'000), ElementsAre(HasSubstr("reach 1024")));
}
// Positions of a batch of texts, as exporters make them: Range, Unsqueeze, Expand, an offset.
std::vector<std::string> batch_of(std::int64_t texts, std::int64_t length, std::int64_t offset) {
  Model model;
  const TensorId row = model.node("Unsqueeze", {model.range(length), model.numbers({0}, {1})});
  const TensorId all = model.node("Expand", {row, model.numbers({texts, length}, {2})});
  model.node("Gather", {model.table, model.node("Add", {all, model.numbers({offset}, {})})});
  return model.problems();
}
TEST(Indices, PositionsOfABatchAreFollowed) {
  EXPECT_THAT(batch_of(8, 1022, 2), IsEmpty());
  EXPECT_THAT(batch_of(8, 1023, 2), ElementsAre(HasSubstr("reach 1024")));
  EXPECT_THAT(batch_of(8, 16'000, 0), ElementsAre(HasSubstr("reach 1024")));
}
TEST(Indices, UnknownIndicesAreAccepted) {
  Model model;
  model.node("Gather", {model.table, model.input("input_ids", {1, 5000})});
  EXPECT_THAT(model.problems(), IsEmpty());
}
TEST(Indices, TableOfUnknownSizeAcceptsAll) {
  Model model;
  model.node("Gather", {model.input("cache", {"rows", 8}), model.numbers({9000}, {1})});
  EXPECT_THAT(model.problems(), IsEmpty());
}
TEST(Indices, AnyAxisIsATable) {
  Model model;
  model.node("Gather", {model.table, model.numbers({8}, {1})}, {{"axis", std::int64_t{1}}});
  EXPECT_THAT(model.problems(), ElementsAre(HasSubstr("reach 8, but there are 8")));
}
TEST(Indices, ElementsArePickedLikewise) {
  Model model;
  model.node("GatherElements", {model.table, model.numbers({2000}, {1, 1})});
  EXPECT_THAT(model.problems(), ElementsAre(HasSubstr("reach 2000")));
}
TEST(Indices, PositionsCountFromWhatIsKept) {
  EXPECT_THAT(positions(2, 1024, 1024), IsEmpty());
  EXPECT_THAT(positions(1, 1, 1024), IsEmpty());
  EXPECT_THAT(positions(1, 1, 1025), ElementsAre(HasSubstr("reach 1024")));
  EXPECT_THAT(positions(2, 2048, 2048), ElementsAre(HasSubstr("reach 1024")));
  EXPECT_THAT(positions(64, 1'000'000, 1'000'000), ElementsAre(HasSubstr("reach 999999")));
  EXPECT_THAT(positions(64, 1024, 1024), IsEmpty());
}
TEST(Indices, UntakenBranchMayHaveInvalidShapes) {
  for (const std::int64_t condition : {0, 1}) {
    Model model;
    Graph far;
    const TensorId table = far.add_tensor({"table", ElementType::unknown, {}}),
                   rows = far.add_tensor({"far", ElementType::unknown, {}}),
                   picked = far.add_tensor({"picked", ElementType::unknown, {}});
    far.captured = {table, rows};
    far.nodes = {{"pick", "Gather", "", {table, rows}, {picked}, {}}};
    far.outputs = {picked};
    Graph near = far;
    near.tensors[1].name = "near";
    model.graph.tensor(model.numbers({5000}, {1})).name = "far";
    model.graph.tensor(model.numbers({5}, {1})).name = "near";
    model.graph.subgraphs = {far, near};
    model.node(
        "If", {model.numbers({condition}, {})},
        {{"then_branch", std::vector<SubgraphId>{SubgraphId{0}}}, {"else_branch", std::vector<SubgraphId>{SubgraphId{1}}}});
    EXPECT_EQ(model.problems().size(), static_cast<std::size_t>(condition));
  }
}

}  // namespace
}  // namespace aaco::graph
