#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "graph/onnx.h"

namespace aaco::graph::onnx {
namespace {

using testing::HasSubstr;

class Sevens final : public WeightSource {
 public:
  core::Status read(std::size_t, std::int64_t, std::span<std::byte> out) override {
    if (broken) return core::fail(core::ErrorCode::io, "the source broke");
    std::fill(out.begin(), out.end(), std::byte{7});
    return {};
  }
  bool broken = false;
};

Graph with_weight(std::int64_t elements) {
  Graph graph;
  graph.opsets[""] = 17;
  const TensorId w = graph.add_tensor({"w", ElementType::float32, Shape{Dimension(elements)}});
  const TensorId x = graph.add_tensor({"x", ElementType::float32, Shape{"n"}});
  const TensorId y = graph.add_tensor({"y", ElementType::float32, Shape{"n"}});
  graph.inputs = {x};
  graph.outputs = {y};
  graph.initializers = {{w, {}}};
  graph.nodes = {{"add", "Add", "", {x, w}, {y}, {}}};
  return graph;
}

class OnnxWrite : public testing::Test {
 protected:
  OnnxWrite() : folder_(*core::TemporaryDirectory::make(testing::TempDir())), path_(core::join_path(folder_.path(), "m.onnx")) {}
  std::string refusal(const Graph& graph, WeightSource* weights, WriteOptions options = {}) {
    const core::Status written = write(graph, weights, path_, options);
    return written ? "" : written.error().text();
  }
  core::TemporaryDirectory folder_;
  std::string path_;
  Sevens weights_;
};

TEST_F(OnnxWrite, WeightsOfSeveralChunksAreWhole) {
  const std::int64_t elements = (std::int64_t{9} << 20) / 4 + 3;
  ASSERT_EQ(refusal(with_weight(elements), &weights_), "");
  const auto graph = load(path_);
  ASSERT_TRUE(graph) << graph.error().text();
  const DataLocation& where = *graph->initializers[0].constant.location;
  const std::string file = *core::read_file(path_);
  EXPECT_EQ(file.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.bytes)),
            std::string(static_cast<std::size_t>(elements * 4), '\7'));
}

TEST_F(OnnxWrite, AbsentWeightsTakeNoSpace) {
  ASSERT_EQ(refusal(with_weight(std::int64_t{1} << 40), nullptr, {.storage = WeightStorage::absent, .progress = {}}), "");
  EXPECT_LT(core::file_size(path_).value(), 1000);
  EXPECT_FALSE(core::exists(path_ + ".data"));
  const auto graph = load(path_);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(total_constants(*graph).bytes, std::int64_t{4} << 40);
}

TEST_F(OnnxWrite, ExternalWeightsAreFoundAgain) {
  ASSERT_EQ(refusal(with_weight(5000), &weights_, {.storage = WeightStorage::external, .progress = {}}), "");
  const auto graph = load(path_);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_TRUE(check_external_data(*graph, path_));
  ASSERT_TRUE(core::write_file_atomic(path_ + ".data", "short"));
  EXPECT_THAT(check_external_data(*graph, path_).error().text(), HasSubstr("truncated"));
}

TEST_F(OnnxWrite, RefusesToEmbedMoreThanProtobufCanHold) {
  EXPECT_THAT(refusal(with_weight(std::int64_t{1} << 29), &weights_, {.storage = WeightStorage::embed, .progress = {}}),
              HasSubstr("2 GB"));
}
TEST_F(OnnxWrite, RefusesAWeightWithoutData) {
  EXPECT_THAT(refusal(with_weight(8), nullptr), HasSubstr("no data for the weight 'w'"));
}
TEST_F(OnnxWrite, RefusesAWeightWithoutASize) {
  Graph graph = with_weight(8);
  graph.tensors[0].shape = Shape{"n"};
  EXPECT_THAT(refusal(graph, &weights_), HasSubstr("no fixed size"));
}
TEST_F(OnnxWrite, RefusesDataOfAnotherSize) {
  Graph graph = with_weight(8);
  graph.initializers[0].constant.data.resize(3);
  EXPECT_THAT(refusal(graph, &weights_), HasSubstr("3 bytes, but its shape requires 32"));
}
TEST_F(OnnxWrite, PassesOnTheSourcesError) {
  weights_.broken = true;
  EXPECT_THAT(refusal(with_weight(8), &weights_), HasSubstr("the source broke"));
}
TEST_F(OnnxWrite, RejectsMissingFolder) {
  path_ = "/nonexistent/m.onnx";
  EXPECT_THAT(refusal(with_weight(8), &weights_), HasSubstr("/nonexistent/m.onnx"));
}
TEST_F(OnnxWrite, AFullDiskIsAClearError) {
  path_ = "/dev/full";
  EXPECT_THAT(refusal(with_weight(8), &weights_), HasSubstr("No space left"));
}

}  // namespace
}  // namespace aaco::graph::onnx
