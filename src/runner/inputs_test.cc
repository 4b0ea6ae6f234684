#include "runner/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/files.h"
#include "core/half.h"
#include "tests/support/source_dir.h"

namespace aaco::runner {
namespace {

using graph::Graph;
using graph::Shape;
using graph::TensorId;
using testing::HasSubstr;

// A graph of inputs alone; `look_up` makes one of them an index into a table.
struct TestGraph {
  Graph graph;
  TestGraph& input(const std::string& name, ElementType type, Shape shape) {
    graph.inputs.push_back(graph.add_tensor({name, type, std::move(shape)}));
    return *this;
  }
  TestGraph& look_up(std::int64_t rows, const std::string& through = {}) {
    TensorId index = graph.inputs.back();
    if (!through.empty()) {
      const TensorId passed = graph.add_tensor({through, ElementType::int64, std::nullopt});
      graph.nodes.push_back({through, through, "", {index}, {passed}, {}});
      index = passed;
    }
    const TensorId table = graph.add_tensor({"table", ElementType::float32, Shape{graph::Dimension(rows), 8}});
    const TensorId out = graph.add_tensor({"out", ElementType::float32, std::nullopt});
    graph.initializers.push_back({table, {}});
    graph.nodes.push_back({"gather", "Gather", "", {table, index}, {out}, {}});
    return *this;
  }
};

TestGraph image() { return TestGraph{}.input("x", ElementType::float32, {"batch", 3, 8, 8}); }
TestGraph fixed_image() { return TestGraph{}.input("x", ElementType::float32, {1, 3, 8, 8}); }
TestGraph decoder() {
  return TestGraph{}
      .input("input_ids", ElementType::int64, {"batch_size", "sequence_length"})
      .look_up(100)
      .input("attention_mask", ElementType::int64, {"batch_size", "past_sequence_length + sequence_length"})
      .input("position_ids", ElementType::int64, {"batch_size", "sequence_length"})
      .look_up(64)
      .input("past_key_values.0.key", ElementType::float32, {"batch_size", 2, "past_sequence_length", 4});
}

ModelInputs make(const TestGraph& model, const InputRequest& request = {}) {
  auto made = make_inputs(model.graph, request);
  EXPECT_TRUE(made) << made.error().text();
  return made ? std::move(*made) : ModelInputs{};
}
std::string refusal(const TestGraph& model, const InputRequest& request = {}) {
  const auto made = make_inputs(model.graph, request);
  return made ? "" : made.error().text();
}
InputRequest with_shape(const std::string& name, std::vector<std::int64_t> shape) {
  InputRequest request;
  request.shapes[name] = std::move(shape);
  return request;
}
InputRequest with_batch(std::int64_t batch) {
  InputRequest request;
  request.batch = batch;
  return request;
}
InputRequest with_step(std::int64_t past, std::int64_t now) {
  InputRequest request;
  request.dimensions = {{"past_sequence_length", past}, {"sequence_length", now}};
  return request;
}
template <class T>
std::vector<T> values(const TensorData& tensor) {
  std::vector<T> out(tensor.bytes.size() / sizeof(T));
  std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  return out;
}
using Sizes = std::vector<std::int64_t>;

TEST(InputShapes, BatchIsOneUnlessAskedFor) { EXPECT_EQ(make(image()).tensors[0].shape, (Sizes{1, 3, 8, 8})); }
TEST(InputShapes, BatchSetsTheBatchSymbol) {
  const ModelInputs made = make(image(), with_batch(5));
  EXPECT_EQ(made.tensors[0].shape, (Sizes{5, 3, 8, 8}));
  EXPECT_EQ(made.batch, 5);
  EXPECT_EQ(made.dimensions.at("batch"), 5);
}
TEST(InputShapes, AcceptsMatchingFixedBatch) { EXPECT_EQ(make(fixed_image(), with_batch(1)).batch, 1); }
TEST(InputShapes, RefusesConflictingFixedBatch) {
  EXPECT_THAT(refusal(fixed_image(), with_batch(8)), HasSubstr("fixed shape [1, 3, 8, 8]"));
}
TEST(InputShapes, ABatchOfZeroIsRefused) { EXPECT_THAT(refusal(image(), with_batch(0)), HasSubstr("is invalid")); }
TEST(InputShapes, BatchBeatsTheDefaultShape) {
  InputRequest request = with_batch(4);
  request.default_shapes["x"] = {1, 3, 8, 8};
  EXPECT_EQ(make(image(), request).tensors[0].shape[0], 4);
}
TEST(InputShapes, AShapeThatContradictsTheBatchIsRefused) {
  InputRequest request = with_shape("x", {2, 3, 8, 8});
  request.batch = 4;
  EXPECT_THAT(refusal(image(), request), HasSubstr("it is already 2"));
}
TEST(InputShapes, AShapeOfAnotherRankIsRefused) {
  EXPECT_THAT(refusal(image(), with_shape("x", {3, 8, 8})), HasSubstr("expects 4 dimensions"));
}
TEST(InputShapes, RefusesConflictingFixedShape) {
  EXPECT_THAT(refusal(image(), with_shape("x", {1, 4, 8, 8})), HasSubstr("fixed at 3"));
}
TEST(InputShapes, AShapeOfAnUnknownInputIsRefused) {
  EXPECT_THAT(refusal(image(), with_shape("y", {1})), HasSubstr("the model's inputs: x"));
}
TEST(InputShapes, ANegativeSizeIsRefused) {
  EXPECT_THAT(refusal(image(), with_shape("x", {-2, 3, 8, 8})), HasSubstr("0 or more"));
}
TEST(InputShapes, AnUnknownSymbolIsRefused) {
  InputRequest request;
  request.dimensions["depth"] = 3;
  EXPECT_THAT(refusal(image(), request), HasSubstr("no dimension 'depth'"));
}
TEST(InputShapes, AnAbsurdSizeIsRefused) {
  EXPECT_THAT(refusal(image(), with_batch(std::int64_t{1} << 50)), HasSubstr("16 GiB"));
}
TEST(InputShapes, SumsFollowTheirParts) {
  const ModelInputs made = make(decoder(), with_step(7, 2));
  EXPECT_EQ(made.tensors[1].shape, (Sizes{1, 9}));
  EXPECT_EQ(made.tensors[3].shape, (Sizes{1, 2, 7, 4}));
  EXPECT_EQ(made.dimensions.at("past_sequence_length + sequence_length"), 9);
}
TEST(InputShapes, RefusesInconsistentSum) {
  InputRequest request = with_step(7, 2);
  request.shapes["attention_mask"] = {1, 10};
  EXPECT_THAT(refusal(decoder(), request), HasSubstr("already"));
}
TEST(InputShapes, WildcardMatchesManyInputs) {
  InputRequest request;
  request.dimensions["sequence_length"] = 1;
  request.default_shapes["past_key_values.*"] = {1, 2, 5, 4};
  EXPECT_EQ(make(decoder(), request).dimensions.at("past_sequence_length"), 5);
}
TEST(InputShapes, ReportsAssumedSizes) {
  const ModelInputs made = make(TestGraph{}.input("x", ElementType::float32, {"batch", "frames"}));
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_THAT(made.warnings[0], HasSubstr("frames"));
}
TEST(InputShapes, UnnamedFirstDimensionsFollowTheBatch) {
  const ModelInputs made = make(TestGraph{}.input("x", ElementType::float32, {graph::Dimension{}, 4}), with_batch(3));
  EXPECT_EQ(made.tensors[0].shape, (Sizes{3, 4}));
}

TEST(InputValues, TokenIdsStayWithinTheVocabulary) {
  for (const std::int64_t id : values<std::int64_t>(make(decoder(), with_step(0, 50)).tensors[0])) {
    EXPECT_GE(id, 0);
    EXPECT_LT(id, 100);
  }
}
TEST(InputValues, TheVocabularyIsFoundThroughACast) {
  const ModelInputs made = make(TestGraph{}.input("x", ElementType::int32, {64}).look_up(3, "Cast"));
  EXPECT_THAT(made.origins[0].meaning, HasSubstr("table of 3 rows"));
}
TEST(InputValues, MasksAreOnes) {
  EXPECT_EQ(values<std::int64_t>(make(decoder(), with_step(1, 2)).tensors[1]), (Sizes{1, 1, 1}));
}
TEST(InputValues, PositionsContinueAfterThePast) {
  EXPECT_EQ(values<std::int64_t>(make(decoder(), with_step(7, 2)).tensors[2]), (Sizes{7, 8}));
}
TEST(InputValues, PositionsBeyondTheTableAreRefused) {
  EXPECT_THAT(refusal(decoder(), with_step(64, 1)), HasSubstr("table ends at 64"));
}
TEST(InputValues, CachesAreSmall) {
  for (const float value : values<float>(make(decoder(), with_step(7, 1)).tensors[3])) EXPECT_LE(std::abs(value), 0.1F);
}
TEST(InputValues, TheSameSeedGivesTheSameBytes) {
  InputRequest other;
  other.seed = 2;
  EXPECT_EQ(make(image()).tensors[0].bytes, make(image()).tensors[0].bytes);
  EXPECT_NE(make(image()).tensors[0].bytes, make(image(), other).tensors[0].bytes);
}
TEST(InputValues, EveryTypeHasItsSize) {
  for (const ElementType type :
       {ElementType::float32, ElementType::float16, ElementType::bfloat16, ElementType::float64, ElementType::int8,
        ElementType::uint8, ElementType::int16, ElementType::uint16, ElementType::int32, ElementType::uint32, ElementType::int64,
        ElementType::uint64, ElementType::boolean})
    EXPECT_EQ(make(TestGraph{}.input("x", type, {6})).tensors[0].bytes.size(), static_cast<std::size_t>(6 * element_size(type)));
}
TEST(InputValues, HalvesAreRealNumbers) {
  for (const std::uint16_t bits : values<std::uint16_t>(make(TestGraph{}.input("x", ElementType::float16, {500})).tensors[0]))
    EXPECT_LE(bits & 0x7FFF, 0x3C00);
}
TEST(InputValues, StringsAreRefused) {
  EXPECT_THAT(refusal(TestGraph{}.input("x", ElementType::string, {1})), HasSubstr("takes strings"));
}
TEST(InputValues, RefusesNonTensors) {
  EXPECT_THAT(refusal(TestGraph{}.input("x", ElementType::unknown, {})), HasSubstr("not a tensor"));
}
TEST(InputValues, RefusesUnsupportedTypes) {
  EXPECT_THAT(refusal(TestGraph{}.input("x", ElementType::complex64, {1})), HasSubstr("complex64"));
}

TEST(Half, IsReadBackExactly) {
  for (const float value : {0.0F, -0.0F, 1.0F, -2.0F, 65504.0F, 0x1p-14F, 1.0F / 3})
    EXPECT_EQ(core::to_half(static_cast<float>(core::from_half(core::to_half(value)))), core::to_half(value)) << value;
  EXPECT_EQ(core::from_half(0x3555), 0x1.554p-2);
  EXPECT_EQ(core::from_half(0x0001), 0x1p-24);  // a denormal
  EXPECT_EQ(core::from_half(0xFC00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(core::from_half(0x7E00)));
  EXPECT_EQ(core::from_bfloat16(core::to_bfloat16(1.5F)), 1.5F);
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(core::to_half(1.0F), 0x3C00);
  EXPECT_EQ(core::to_half(-2.0F), 0xC000);
  EXPECT_EQ(core::to_half(1.0F + 0x1p-11F), 0x3C00);
  EXPECT_EQ(core::to_half(1.0F + 0x3p-11F), 0x3C02);
  EXPECT_EQ(core::to_half(65504.0F), 0x7BFF);
  EXPECT_EQ(core::to_half(1e6F), 0x7C00);
  EXPECT_EQ(core::to_half(1e-6F), 0);
  EXPECT_EQ(core::to_bfloat16(1.0F), 0x3F80);
}

// Files of the test's own.
class InputFiles : public testing::Test {
 protected:
  InputFiles() : folder_(*core::TemporaryDirectory::make(testing::TempDir())) {}
  InputRequest file(const std::string& input, const std::string& name, const std::string& bytes) {
    InputRequest request;
    request.files[input] = core::join_path(folder_.path(), name);
    EXPECT_TRUE(core::write_file_atomic(request.files[input], bytes));
    return request;
  }
  static std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
    const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
  }
  static std::string floats(const std::vector<float>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
  }
  static TestGraph pair() { return TestGraph{}.input("x", ElementType::float32, {"n", 2}); }
  core::TemporaryDirectory folder_;
};

TEST_F(InputFiles, AnNpyGivesValuesAndSizes) {
  const ModelInputs made = make(pair(), file("x", "x.npy", npy("<f4", "(2, 2)", floats({1, 2, 3, 4}))));
  EXPECT_EQ(made.tensors[0].shape, (Sizes{2, 2}));
  EXPECT_EQ(values<float>(made.tensors[0]), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_THAT(made.origins[0].meaning, HasSubstr("x.npy"));
}
TEST_F(InputFiles, ATensorProtoIsRead) {
  // dims 1, 2; data_type float; raw_data of two floats.
  const ModelInputs made = make(pair(), file("x", "x.pb", std::string("\x08\x01\x08\x02\x10\x01\x4a\x08", 8) + floats({5, 6})));
  EXPECT_EQ(values<float>(made.tensors[0]), (std::vector<float>{5, 6}));
}
TEST_F(InputFiles, AMemberOfAnNpzIsFoundByName) {
  InputRequest request;
  request.files["x"] = std::string(AACO_SOURCE_DIR) + "/tests/fixtures/npy/deflated.npz";
  EXPECT_EQ(make(TestGraph{}.input("x", ElementType::float32, {"n", 3}), request).tensors[0].shape, (Sizes{2, 3}));
}
TEST_F(InputFiles, RefusesMissingMember) {
  InputRequest request;
  request.files["y"] = std::string(AACO_SOURCE_DIR) + "/tests/fixtures/npy/deflated.npz";
  EXPECT_THAT(refusal(TestGraph{}.input("y", ElementType::float32, {"n", 3}), request), HasSubstr("it has x, ids"));
}
TEST_F(InputFiles, AFileOfAnotherTypeIsRefused) {
  EXPECT_THAT(refusal(pair(), file("x", "x.npy", npy("<f8", "(1, 2)", std::string(16, '\0')))), HasSubstr("save it as float32"));
}
TEST_F(InputFiles, AFileOfAnotherShapeIsRefused) {
  EXPECT_THAT(refusal(pair(), file("x", "x.npy", npy("<f4", "(1, 3)", std::string(12, '\0')))), HasSubstr("fixed at 2"));
}
TEST_F(InputFiles, NanIsRefused) {
  EXPECT_THAT(refusal(pair(), file("x", "x.npy", npy("<f4", "(1, 2)", floats({1, std::numeric_limits<float>::quiet_NaN()})))),
              HasSubstr("NaN (first at index 1)"));
}
TEST_F(InputFiles, AnInfinityIsAWarning) {
  EXPECT_EQ(
      make(pair(), file("x", "x.npy", npy("<f4", "(1, 2)", floats({1, std::numeric_limits<float>::infinity()})))).warnings.size(),
      1U);
}
TEST_F(InputFiles, AFileForAnUnknownInputIsRefused) {
  EXPECT_THAT(refusal(pair(), file("y", "y.npy", "")), HasSubstr("the model's inputs: x"));
}
TEST_F(InputFiles, AMissingFileIsRefused) {
  InputRequest request;
  request.files["x"] = "/nonexistent/x.npy";
  EXPECT_THAT(refusal(pair(), request), HasSubstr("/nonexistent/x.npy"));
}
TEST_F(InputFiles, AFileThatContradictsTheBatchIsRefused) {
  InputRequest request = file("x", "x.npy", npy("<f4", "(2, 2)", std::string(16, '\0')));
  request.batch = 3;
  EXPECT_THAT(refusal(pair(), request), HasSubstr("it is already 2"));
}

}  // namespace
}  // namespace aaco::runner
