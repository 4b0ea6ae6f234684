#include "graph/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::graph {
namespace {

using testing::HasSubstr;

constexpr const char* kPlain = "schema_version: 1\nbackend: tiny\nsource: a table\ntypes: [int8]\noperators: [Conv, Relu]\n";

core::Result<BackendSupport> load_text(const std::string& text) {
  const std::string path = testing::TempDir() + "/support.yaml";
  EXPECT_TRUE(core::write_file_atomic(path, text));
  return load_backend_support(path);
}

void refuses(const std::string& text, const char* word) {
  const auto loaded = load_text(text);
  ASSERT_FALSE(loaded) << text;
  EXPECT_THAT(loaded.error().text(), HasSubstr(word));
  EXPECT_THAT(loaded.error().text(), HasSubstr("support.yaml:"));
}

// x -> Conv(w) -> Relu -> Erf -> Relu, with `middle` in place of Erf.
Graph chain(ElementType type, const char* middle = "Erf") {
  Graph graph;
  const auto tensor = [&](const char* name) { return graph.add_tensor({name, type, Shape{1, 4, 8, 8}}); };
  const auto x = tensor("x"), w = tensor("w"), a = tensor("a"), b = tensor("b"), c = tensor("c"), d = tensor("d");
  graph.inputs = {x};
  graph.initializers = {{w, {}}};
  graph.nodes = {{"conv", "Conv", "", {x, w}, {a}, {}},
                 {"first", "Relu", "", {a}, {b}, {}},
                 {"middle", middle, "", {b}, {c}, {}},
                 {"last", "Relu", "", {c}, {d}, {}}};
  return graph;
}

std::vector<std::size_t> targets(const Graph& graph, const BackendSupport& support,
                                 ElementType floats_as = ElementType::unknown) {
  return partition_by(graph, support, floats_as, "host").target_of;
}

TEST(Support, OperatorsAndTypesDecide) {
  const auto support = load_text(kPlain).value();
  EXPECT_THAT(targets(chain(ElementType::int8), support), testing::ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(targets(chain(ElementType::float32), support), testing::ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(targets(chain(ElementType::float32), support, ElementType::int8), testing::ElementsAre(0, 0, 1, 0));
}

TEST(Support, ConditionsOnNodesOfTheOperators) {
  Graph graph = chain(ElementType::int8, "Relu");
  graph.nodes[2].attributes = {{"mode", std::string("edge")}, {"dilations", std::vector<std::int64_t>{1, 2}}};
  const auto reason = [&](const std::string& condition) {
    const auto support = load_text(std::string(kPlain) + "conditions:\n  - {op: [Relu], " + condition + "}\n").value();
    const auto refusal = SupportCheck(support, ElementType::unknown, graph).refusal(2);
    return refusal ? refusal->reason + ": " + refusal->text : "";
  };
  EXPECT_EQ(reason("values: [{attribute: mode, in: [edge]}]"), "");
  EXPECT_EQ(reason("values: [{attribute: mode, in: [constant, reflect]}]"),
            "provider_attribute: attribute mode of 'middle' is edge; tiny requires constant or reflect");
  EXPECT_EQ(reason("values: [{attribute: dilations, in: [1]}]"),
            "provider_attribute: attribute dilations of 'middle' is [1, 2]; tiny requires 1 throughout");
  EXPECT_THAT(reason("values: [{operand: 0}]"), HasSubstr("provider_operand"));
  EXPECT_THAT(reason("ranks: [{operand: 0, in: [3]}]"), HasSubstr("provider_shape"));
  EXPECT_THAT(reason("types: [float32]"), HasSubstr("provider_type"));
  EXPECT_EQ(reason("values: [{outputs: 1}]"), "");
}
TEST(SupportRefuses, AConditionWithAnUnknownKey) {
  refuses(std::string(kPlain) + "conditions:\n  - {op: [Relu], vales: []}\n", "vales");
}
TEST(SupportData, RulesOfProvidersWithTheirOwnBuildAreRead) {
  for (const char* name : {"dnnl", "xnnpack"}) {
    const auto loaded = load_backend_support(AACO_SOURCE_DIR "/data/rules/provider_" + std::string(name) + ".yaml");
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(loaded->backend, name);
    EXPECT_GE(loaded->rules.rules.size(), 5U);
  }
}

TEST(Support, OnePartEndsAtTheFirstNodeThatIsNotTaken) {
  const auto support = load_text(std::string(kPlain) + "one_part: true\n").value();
  const Graph graph = chain(ElementType::int8);
  const Partition parts = partition_by(graph, support, ElementType::unknown, "host");
  EXPECT_THAT(parts.target_of, testing::ElementsAre(0, 0, 1, 1));
  ASSERT_EQ(parts.refusals.size(), 2U);
  for (const Refusal& refusal : parts.refusals)
    EXPECT_THAT(refusal.reason, HasSubstr(refusal.op_type == "Erf" ? "does not support Erf" : "only one partition"));
}

TEST(Support, AKnownShapeIsAConstant) {
  // x -> Relu -> Reshape, whose sizes are the Shape of x.
  Graph graph;
  const auto x = graph.add_tensor({"x", ElementType::int8, Shape{2, 8}}),
             a = graph.add_tensor({"a", ElementType::int8, Shape{2, 8}});
  const auto sizes = graph.add_tensor({"sizes", ElementType::int64, Shape{2}}),
             b = graph.add_tensor({"b", ElementType::int8, Shape{2, 8}});
  graph.inputs = {x};
  graph.nodes = {{"shape", "Shape", "", {x}, {sizes}, {}},
                 {"relu", "Relu", "", {x}, {a}, {}},
                 {"reshape", "Reshape", "", {a, sizes}, {b}, {}}};
  const auto support = load_text(
                           "schema_version: 1\nbackend: tiny\nsource: a table\ntypes: [int8]\noperators: [Relu, Reshape, Shape]\n"
                           "conditions:\n  - {op: [Reshape], values: [{operand: 1}]}\n")
                           .value();
  EXPECT_FALSE(SupportCheck(support, ElementType::unknown, graph).refusal(2));
  graph.tensors[index_of(x)].shape = Shape{"n", 8};
  const auto refusal = SupportCheck(support, ElementType::unknown, graph).refusal(2);
  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->text, HasSubstr("computed"));
}

TEST(Support, ConstantOperandMayBeRequired) {
  const auto support = load_text(std::string(kPlain) + "constant_operand: [Conv]\n").value();
  Graph graph = chain(ElementType::int8, "Relu");
  EXPECT_THAT(targets(graph, support), testing::Each(0));
  graph.initializers.clear();
  EXPECT_EQ(targets(graph, support)[0], 1U);
}

TEST(Support, TooManyUnsupportedNodesRejectTheGraph) {
  const Graph graph = chain(ElementType::int8);
  EXPECT_THAT(targets(graph, load_text(std::string(kPlain) + "most_refused: 1\n").value()), testing::ElementsAre(0, 0, 1, 0));
  const auto strict = load_text(std::string(kPlain) + "most_refused: 0\n").value();
  const Partition parts = partition_by(graph, strict, ElementType::unknown, "host");
  EXPECT_THAT(parts.target_of, testing::Each(1));
  EXPECT_EQ(parts.transfers.size(), 0U);
  EXPECT_TRUE(std::any_of(parts.refusals.begin(), parts.refusals.end(),
                          [](const Refusal& one) { return one.reason.find("more than 0") != std::string::npos; }));
}

TEST(Support, OperatorsMayBeAskedForOnTheHost) {
  const auto support = load_text(kPlain).value();
  const Partition parts = partition_by(chain(ElementType::int8), support, ElementType::unknown, "host", {"Conv"});
  EXPECT_THAT(parts.target_of, testing::ElementsAre(1, 0, 1, 0));
}

TEST(Support, RefusesWhatTheSchemaDoesNotHave) {
  const std::string plain = kPlain;
  refuses(plain + "speed: 3\n", "speed");
  refuses(plain + "host_link: {name: l}\n", "bytes_per_s");
  refuses(plain + "host_link: {name: l, bytes_per_s: 0}\n", "above 0");
  refuses(plain + "host_link: {name: l, bytes_per_s: 1, lanes: 4}\n", "lanes");
  refuses(plain + "most_refused: -1\n", "at least 0");
  refuses(plain + "constant_operand: [Gemm]\n", "not in the list of operators");
  refuses("schema_version: 2\n" + plain.substr(plain.find('\n') + 1), "schema_version");
  refuses("schema_version: 1\nbackend: t\nsource: s\ntypes: [int9]\noperators: [Conv]\n", "int9");
  refuses("schema_version: 1\nbackend: t\nsource: s\ntypes: []\noperators: [Conv]\n", "at least one data type");
  refuses("schema_version: 1\nbackend: t\nsource: s\ntypes: [int8]\noperators: []\n", "one operator");
  refuses("schema_version: 1\nbackend: t\nsource: s\ntypes: [int8]\noperators: [Conv, Conv]\n", "duplicate");
  refuses("schema_version: 1\nbackend: t\ntypes: [int8]\noperators: [Conv]\n", "source");
}

TEST(Support, ShippedFilesFollowSchema) {
  const std::string folder = AACO_SOURCE_DIR "/data/support";
  const auto files = core::list_directory(folder).value();
  EXPECT_GE(files.size(), 4U);
  for (const std::string& file : files) {
    const auto loaded = load_backend_support(folder + "/" + file);
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(loaded->backend + ".yaml", file);
    EXPECT_GT(loaded->operators.size(), 10U);
    EXPECT_TRUE(loaded->link) << file;
  }
}

}  // namespace
}  // namespace aaco::graph
