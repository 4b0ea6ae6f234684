#include "graph/tflite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace aaco::graph::tflite {
namespace {

using testing::HasSubstr;

// What a FlatBuffers file is made of, written front to back: a table's vtable lies in front of it, its children behind.
struct Flat {
  enum class Kind { number, text, numbers, tables, table } kind = Kind::number;
  std::int64_t number = 0;
  std::size_t size = 4;  // of a number
  std::string text;
  std::vector<std::int64_t> numbers;
  std::vector<std::pair<int, Flat>> fields;
  std::vector<Flat> tables;
};

Flat number(std::int64_t value, std::size_t size = 4) { return {Flat::Kind::number, value, size, {}, {}, {}, {}}; }
Flat text(std::string value) { return {Flat::Kind::text, 0, 4, std::move(value), {}, {}, {}}; }
Flat numbers(std::vector<std::int64_t> values) { return {Flat::Kind::numbers, 0, 4, {}, std::move(values), {}, {}}; }
Flat tables(std::vector<Flat> items) { return {Flat::Kind::tables, 0, 4, {}, {}, {}, std::move(items)}; }
Flat table(std::vector<std::pair<int, Flat>> fields) { return {Flat::Kind::table, 0, 4, {}, {}, std::move(fields), {}}; }

class Writer {
 public:
  static std::string write(const Flat& root) {
    Writer writer;
    writer.put(0, 4);
    writer.bytes_ += "TFL3";
    writer.patch(0, writer.append(root));
    return writer.bytes_;
  }

 private:
  void put(std::uint64_t value, std::size_t size) {
    for (std::size_t index = 0; index < size; ++index) bytes_ += static_cast<char>((value >> (8 * index)) & 0xFF);
  }
  void patch(std::size_t at, std::size_t target) {
    const std::uint64_t offset = target - at;
    for (std::size_t index = 0; index < 4; ++index) bytes_[at + index] = static_cast<char>((offset >> (8 * index)) & 0xFF);
  }
  std::size_t append(const Flat& item) {
    while (bytes_.size() % 8 != 0) bytes_ += '\0';
    const std::size_t start = bytes_.size();
    if (item.kind == Flat::Kind::text) {
      put(item.text.size(), 4);
      bytes_ += item.text;
      return start;
    }
    if (item.kind == Flat::Kind::numbers) {
      put(item.numbers.size(), 4);
      for (const std::int64_t value : item.numbers) put(static_cast<std::uint64_t>(value), 4);
      return start;
    }
    if (item.kind == Flat::Kind::tables) {
      put(item.tables.size(), 4);
      for (std::size_t index = 0; index < item.tables.size(); ++index) put(0, 4);
      for (std::size_t index = 0; index < item.tables.size(); ++index) patch(start + 4 + 4 * index, append(item.tables[index]));
      return start;
    }
    return append_table(item);
  }
  std::size_t append_table(const Flat& item) {
    int last = -1;
    for (const auto& [field, value] : item.fields) last = std::max(last, field);
    const std::size_t vtable = bytes_.size();
    const std::size_t vtable_bytes = 4 + 2 * static_cast<std::size_t>(last + 1);
    // Every field has eight bytes of its own behind the offset to the vtable.
    put(vtable_bytes, 2);
    put(8 + 8 * item.fields.size(), 2);
    std::vector<std::size_t> places(static_cast<std::size_t>(last + 1), 0);
    for (std::size_t index = 0; index < item.fields.size(); ++index)
      places[static_cast<std::size_t>(item.fields[index].first)] = 8 + 8 * index;
    for (const std::size_t place : places) put(place, 2);
    while (bytes_.size() % 8 != 0) bytes_ += '\0';
    const std::size_t start = bytes_.size();
    put(start - vtable, 8);
    for (const auto& [field, value] : item.fields)
      put(value.kind == Flat::Kind::number ? static_cast<std::uint64_t>(value.number) : 0, 8);
    for (std::size_t index = 0; index < item.fields.size(); ++index)
      if (item.fields[index].second.kind != Flat::Kind::number) patch(start + 8 + 8 * index, append(item.fields[index].second));
    return start;
  }
  std::string bytes_;
};

// A tensor: shape, type, buffer, name, signature.
Flat tensor(const std::string& name, std::vector<std::int64_t> shape, std::int64_t buffer = 0, std::int64_t type = 0,
            std::vector<std::int64_t> signature = {}) {
  std::vector<std::pair<int, Flat>> fields = {
      {0, numbers(std::move(shape))}, {1, number(type, 1)}, {2, number(buffer)}, {3, text(name)}};
  if (!signature.empty()) fields.emplace_back(7, numbers(std::move(signature)));
  return table(std::move(fields));
}

Flat node(std::int64_t code, std::vector<std::int64_t> inputs, std::vector<std::int64_t> outputs,
          std::vector<std::pair<int, Flat>> options = {}) {
  std::vector<std::pair<int, Flat>> fields = {
      {0, number(code)}, {1, numbers(std::move(inputs))}, {2, numbers(std::move(outputs))}};
  if (!options.empty()) fields.emplace_back(4, table(std::move(options)));
  return table(std::move(fields));
}

struct Model {
  std::vector<Flat> codes, tensors, operators, buffers = {table({})}, further;  // buffer 0 is empty
  std::vector<std::int64_t> inputs = {0}, outputs;
  std::vector<Flat> signatures;
  std::int64_t version = 3;

  void code(std::int64_t number_of) {
    codes.push_back(table({{0, number(std::min<std::int64_t>(number_of, 127), 1)}, {3, number(number_of)}}));
  }
  [[nodiscard]] std::string bytes() const {
    std::vector<Flat> graphs = {
        table({{0, tables(tensors)}, {1, numbers(inputs)}, {2, numbers(outputs)}, {3, tables(operators)}, {4, text("main")}})};
    graphs.insert(graphs.end(), further.begin(), further.end());
    return Writer::write(table({{0, number(version)},
                                {1, tables(codes)},
                                {2, tables(graphs)},
                                {3, text("by hand")},
                                {4, tables(buffers)},
                                {7, tables(signatures)}}));
  }
  [[nodiscard]] core::Result<Graph> parse() const {
    AACO_ASSIGN(Source source, tflite::parse(bytes(), "test.tflite"));
    return std::move(source.graph);
  }
  [[nodiscard]] std::string refusal() const {
    const auto graph = parse();
    return graph ? "" : graph.error().text();
  }
};

// x [batch, 8, 8, 3] -> CONV_2D, 4 filters of 3 x 3, stride 2 -> RELU.
Model convolution() {
  Model model;
  model.code(3);
  model.code(19);
  model.buffers.push_back(table({{0, text(std::string(4 * 3 * 3 * 3 * 4, '\1'))}}));
  model.tensors = {tensor("x", {1, 8, 8, 3}, 0, 0, {-1, 8, 8, 3}), tensor("w", {4, 3, 3, 3}, 1),
                   tensor("h", {1, 4, 4, 4}, 0, 0, {-1, 4, 4, 4}), tensor("y", {1, 4, 4, 4}, 0, 0, {-1, 4, 4, 4})};
  model.operators = {node(0, {0, 1, -1}, {2}, {{0, number(0, 1)}, {1, number(2)}, {2, number(2)}}), node(1, {2}, {3})};
  model.outputs = {3};
  return model;
}

TEST(Tflite, OperatorsHaveTheirNamesAndOptions) {
  const auto graph = convolution().parse();
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[0].op_type, "CONV_2D");
  EXPECT_EQ(graph->nodes[0].ints_or("strides", {}), (std::vector<std::int64_t>{2, 2}));
  EXPECT_FALSE(graph->nodes[0].inputs[2].valid());
  EXPECT_EQ(graph->nodes[1].op_type, "RELU");
  EXPECT_EQ(graph->producer, "by hand");
  EXPECT_EQ(graph->name, "main");
}
TEST(Tflite, AnOpenBatchIsASymbol) {
  const Graph graph = convolution().parse().value();
  EXPECT_EQ(to_string(*graph.tensor(graph.inputs[0]).shape), "[batch, 8, 8, 3]");
  EXPECT_EQ(to_string(*graph.tensor(graph.outputs[0]).shape), "[batch, 4, 4, 4]");
}
TEST(Tflite, ConstantsAreWeightsAndWhereTheyLie) {
  const std::string bytes = convolution().bytes();
  const Graph graph = parse(bytes, "test.tflite").value().graph;
  ASSERT_EQ(graph.initializers.size(), 1U);
  const Constant& constant = graph.initializers[0].constant;
  ASSERT_TRUE(constant.location);
  EXPECT_EQ(constant.location->bytes, 432);
  EXPECT_EQ(bytes[static_cast<std::size_t>(constant.location->offset)], '\1');
  EXPECT_EQ(graph.inputs.size(), 1U);
}
TEST(Tflite, CodesAbove127StandInTheirOwnField) {
  Model model;
  model.code(150);
  model.tensors = {tensor("x", {4}), tensor("y", {4})};
  model.operators = {node(0, {0}, {1})};
  model.outputs = {1};
  EXPECT_EQ(model.parse()->nodes[0].op_type, "GELU");
}
TEST(Tflite, CustomOperatorsKeepTheirNames) {
  Model model;
  model.codes.push_back(table({{0, number(32, 1)}, {1, text("MyOp")}, {3, number(32)}}));
  model.tensors = {tensor("x", {4}), tensor("y", {4})};
  model.operators = {node(0, {0}, {1})};
  model.outputs = {1};
  EXPECT_EQ(model.parse()->nodes[0].op_type, "custom:MyOp");
}
TEST(Tflite, BranchesAreConditions) {
  Model model;
  model.code(118);
  model.code(19);
  model.tensors = {tensor("c", {}, 0, 6), tensor("x", {4}), tensor("y", {4})};
  model.inputs = {0, 1};
  model.operators = {node(0, {0, 1}, {2}, {{0, number(1)}, {1, number(1)}})};
  model.outputs = {2};
  model.further = {table({{0, tables({tensor("a", {4}), tensor("b", {4})})},
                          {1, numbers({0})},
                          {2, numbers({1})},
                          {3, tables({node(1, {0}, {1})})}})};
  const auto graph = model.parse();
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->nodes[0].op_type, "If");
  EXPECT_EQ(graph->subgraphs.size(), 2U);
}

Flat signature(const std::string& key, std::int64_t graph) { return table({{2, text(key)}, {4, number(graph)}}); }

// x -> RELU -> y [4] as "prefill", and [8] as "decode".
Model two_signatures() {
  Model model;
  model.code(19);
  model.tensors = {tensor("x", {4}), tensor("y", {4})};
  model.operators = {node(0, {0}, {1})};
  model.outputs = {1};
  model.further = {table({{0, tables({tensor("a", {8}), tensor("b", {8})})},
                          {1, numbers({0})},
                          {2, numbers({1})},
                          {3, tables({node(0, {0}, {1})})}})};
  model.signatures = {signature("prefill", 0), signature("decode", 1)};
  return model;
}

TEST(TfliteSignatures, TheFirstGraphIsTakenAndTheOthersAreNamed) {
  const Source source = parse(two_signatures().bytes(), "x").value();
  EXPECT_EQ(to_string(*source.graph.tensor(source.graph.inputs[0]).shape), "[4]");
  ASSERT_EQ(source.assumptions.size(), 1U);
  EXPECT_THAT(source.assumptions[0], HasSubstr("prefill, decode 'prefill' was taken"));
}
TEST(TfliteSignatures, OneIsTakenByItsName) {
  const Source source = parse(two_signatures().bytes(), "x", "decode").value();
  EXPECT_EQ(to_string(*source.graph.tensor(source.graph.inputs[0]).shape), "[8]");
  EXPECT_TRUE(source.assumptions.empty());
}
TEST(TfliteSignatures, SeveralNamesOfOneGraphAreNoChoice) {
  Model model = two_signatures();
  model.signatures = {signature("serve", 0), signature("again", 0)};
  EXPECT_TRUE(parse(model.bytes(), "x").value().assumptions.empty());
}
TEST(TfliteSignatures, AnUnknownOneIsRefusedAndTheOthersAreNamed) {
  EXPECT_THAT(parse(two_signatures().bytes(), "x", "train").error().text(), HasSubstr("its signatures: prefill, decode"));
  EXPECT_THAT(parse(convolution().bytes(), "x", "train").error().text(), HasSubstr("it has none"));
}
TEST(TfliteSignatures, OneOfAGraphThatIsNotThereIsRefused) {
  Model model = two_signatures();
  model.signatures = {signature("far", 9)};
  EXPECT_THAT(parse(model.bytes(), "x", "far").error().text(), HasSubstr("graph 9"));
}

// x -> y, both with what the file writes and the open sizes' -1.
Graph open_graph(Flat x, Flat y) {
  Model model;
  model.code(19);
  model.tensors = {std::move(x), std::move(y)};
  model.operators = {node(0, {0}, {1})};
  model.outputs = {1};
  return model.parse().value();
}
std::string output_shape(const Graph& graph) { return to_string(*graph.tensor(graph.outputs[0]).shape); }

TEST(TfliteOpenSizes, AMultipleOfTheBatchIsOne) {
  const Graph graph = open_graph(tensor("x", {1, 12, 64}, 0, 0, {-1, 12, 64}), tensor("y", {12, 64}, 0, 0, {-1, 64}));
  EXPECT_EQ(output_shape(graph), "[12*batch, 64]");
}
TEST(TfliteOpenSizes, TheBatchMayComeLater) {
  const Graph graph = open_graph(tensor("x", {1, 12}, 0, 0, {-1, 12}), tensor("y", {12, 1}, 0, 0, {12, -1}));
  EXPECT_EQ(output_shape(graph), "[12, batch]");
}
TEST(TfliteOpenSizes, WhatTheBatchDoesNotTellIsNotGuessed) {
  const Graph graph = open_graph(tensor("x", {1, 1, 64}, 0, 0, {-1, -1, 64}), tensor("y", {1, 64}, 0, 0, {-1, 64}));
  EXPECT_EQ(to_string(*graph.tensor(graph.inputs[0]).shape), "[batch, ?, 64]");
  EXPECT_EQ(output_shape(graph), "[?, 64]");
}
TEST(TfliteOpenSizes, AnImageHasAHeightAndAWidth) {
  const Graph graph = open_graph(tensor("x", {1, 1, 1, 3}, 0, 0, {1, -1, -1, 3}), tensor("y", {1, 1}));
  EXPECT_EQ(to_string(*graph.tensor(graph.inputs[0]).shape), "[1, height, width, 3]");
}

TEST(TfliteRefuses, ABufferThatIsNotThere) {
  Model model = convolution();
  model.tensors[1] = tensor("w", {4, 3, 3, 3}, 44);
  EXPECT_THAT(model.refusal(), HasSubstr("'w' has its data in buffer 44"));
}
// Graph 1: a [4] -> RELU -> b, twice.
Flat twice() {
  return table({{0, tables({tensor("x", {4}), tensor("h", {4}), tensor("y", {4})})},
                {1, numbers({0})},
                {2, numbers({2})},
                {3, tables({node(1, {0}, {1}), node(1, {1}, {2})})},
                {4, text("body")}});
}
// An operator over x that runs graph 1, whose number stands in field `field` of its options.
Model running(std::int64_t code, int field, const std::vector<std::int64_t>& inputs = {0}) {
  Model model;
  model.code(code);
  model.code(19);
  model.tensors = {tensor("x", {4}), tensor("y", {4})};
  Flat call = node(0, inputs, {1});
  call.fields.emplace_back(field == 0 ? 4 : 12, table({{field, number(1)}}));
  model.operators = {call};
  model.outputs = {1};
  model.further = {twice()};
  return model;
}

TEST(TfliteBodies, WhatACallRunsStandsInItsPlace) {
  for (const auto& [code, field] : {std::pair(31, 0), std::pair(206, 1)}) {
    const auto graph = running(code, field).parse();
    ASSERT_TRUE(graph) << graph.error().text();
    ASSERT_EQ(graph->nodes.size(), 2U);
    EXPECT_EQ(graph->nodes[0].inputs[0], graph->inputs[0]);
    EXPECT_EQ(graph->nodes[1].outputs[0], graph->outputs[0]);
    EXPECT_EQ(graph->tensor(graph->nodes[0].outputs[0]).name, "body/h");
  }
}
TEST(TfliteBodies, OneThatTakesMoreThanItIsGivenIsRefused) {
  EXPECT_THAT(running(31, 0, {}).refusal(), HasSubstr("does not fit the graph that it runs"));
}
TEST(TfliteBodies, BranchesKeepWhatTheyReadAlive) {
  Model model = running(118, 0);
  model.tensors = {tensor("c", {}, 0, 6), tensor("x", {4}), tensor("h", {4}), tensor("y", {4})};
  model.inputs = {0, 1};
  model.operators = {node(1, {1}, {2}), node(0, {0, 2}, {3}, {{0, number(1)}, {1, number(1)}})};
  model.outputs = {3};
  const auto graph = model.parse();
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->subgraphs.size(), 2U);
  for (const Graph& body : graph->subgraphs) {
    ASSERT_EQ(body.captured.size(), 1U);
    EXPECT_EQ(body.tensor(body.captured[0]).name, "h");
    EXPECT_TRUE(body.inputs.empty());
  }
  model.operators[1] = node(0, {0}, {3}, {{0, number(1)}, {1, number(1)}});
  EXPECT_THAT(model.refusal(), HasSubstr("does not fit"));
}
TEST(TfliteBodies, ALoopHasItsConditionAndItsBody) {
  Model model = running(119, 0);
  model.operators = {node(0, {0}, {1}, {{0, number(1)}, {1, number(2)}})};
  model.further = {twice(), twice()};
  const auto graph = model.parse();
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->subgraphs.size(), 2U);
  const auto* bodies = std::get_if<std::vector<SubgraphId>>(graph->nodes[0].attribute("bodies"));
  ASSERT_NE(bodies, nullptr);
  EXPECT_EQ(bodies->size(), 2U);
  model.operators = {node(0, {}, {1}, {{0, number(1)}, {1, number(2)}})};
  EXPECT_THAT(model.refusal(), HasSubstr("does not fit"));
}
TEST(Tflite, TensorsOfOneNameAreToldApart) {
  Model model = convolution();
  for (Flat& item : model.tensors) item.fields[3].second = text("same");
  const Graph graph = model.parse().value();
  EXPECT_EQ(graph.tensor(graph.inputs[0]).name, "same");
  EXPECT_THAT(graph.tensor(graph.outputs[0]).name, HasSubstr("same#"));
}

TEST(TfliteRefuses, EveryTruncationOfAModel) {
  const std::string bytes = convolution().bytes();
  for (std::size_t size = 0; size < bytes.size() - 8; size += 5) {
    const auto read = parse(std::string_view(bytes).substr(0, size), "cut");
    EXPECT_TRUE(!read || read->graph.nodes.size() <= 2U);  // what is cut off may be padding
  }
  EXPECT_FALSE(parse(std::string_view(bytes).substr(0, bytes.size() / 2), "cut"));
}
TEST(TfliteRefuses, WhatIsNoModel) { EXPECT_THAT(parse("some text that is long enough", "x").error().text(), HasSubstr("TFL3")); }
TEST(TfliteRefuses, AnotherVersion) {
  Model model = convolution();
  model.version = 4;
  EXPECT_THAT(model.refusal(), HasSubstr("version 4"));
}
TEST(TfliteRefuses, AnUnknownElementType) {
  Model model = convolution();
  model.tensors[0] = tensor("x", {1, 8, 8, 3}, 0, 99);
  EXPECT_THAT(model.refusal(), HasSubstr("(99)"));
}
TEST(TfliteRefuses, ANegativeSize) {
  Model model = convolution();
  model.tensors[0] = tensor("x", {1, -8, 8, 3});
  EXPECT_THAT(model.refusal(), HasSubstr("negative size, -8"));
}
TEST(TfliteRefuses, ACycle) {
  Model model = convolution();
  model.operators = {node(0, {3, 1, -1}, {2}), node(1, {2}, {3})};
  EXPECT_THAT(model.refusal(), HasSubstr("'y' is read before any operator makes it"));
}
TEST(TfliteRefuses, ATensorThatIsMadeTwice) {
  Model model = convolution();
  model.operators.push_back(node(1, {0}, {3}));
  EXPECT_THAT(model.refusal(), HasSubstr("'y' is made twice"));
}
TEST(TfliteRefuses, ConstantsThatDoNotFitTheirShape) {
  Model model = convolution();
  model.tensors[1] = tensor("w", {4, 3, 3, 5}, 1);
  EXPECT_THAT(model.refusal(), HasSubstr("has 432 bytes"));
}
TEST(TfliteRefuses, NumbersOfWhatItDoesNotHave) {
  Model model = convolution();
  model.operators = {node(7, {0}, {3})};
  EXPECT_THAT(model.refusal(), HasSubstr("code 7"));
  model.operators = {node(1, {70}, {3})};
  EXPECT_THAT(model.refusal(), HasSubstr("tensor 70"));
}
TEST(TfliteRefuses, AGraphThatRunsItself) {
  Model model;
  model.code(118);
  const Flat self = node(0, {0}, {1}, {{0, number(1)}, {1, number(1)}});
  model.tensors = {tensor("c", {}, 0, 6), tensor("y", {})};
  model.operators = {self};
  model.outputs = {1};
  model.further = {table({{0, tables(model.tensors)}, {1, numbers({0})}, {2, numbers({1})}, {3, tables({self})}})};
  EXPECT_THAT(model.refusal(), HasSubstr("deep in each other"));
}

}  // namespace
}  // namespace aaco::graph::tflite
