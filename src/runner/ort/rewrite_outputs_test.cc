// What ONNX Runtime computes with a model before and after each rewrite of graph/rewrite.h.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/files.h"
#include "core/random.h"
#include "graph/onnx.h"
#include "graph/rewrite.h"
#include "runner/ort_runtime.h"

namespace aaco::runner::ort {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::TensorId;

std::vector<std::byte> random_floats(std::size_t count, std::uint64_t seed) {
  core::Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.below(2001)) / 1000.0F - 1.0F;
  std::vector<std::byte> bytes(count * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// x[4, 64] -> Identity -> Reshape by its own shape -> Gemm with bias -> Relu -> MatMul -> y, and a node that nothing reads.
graph::Graph two_layers() {
  graph::Graph graph;
  graph.opsets[""] = 17;
  graph.format_version = 8;
  const auto tensor = [&](const char* name, std::optional<Shape> shape = std::nullopt, ElementType type = ElementType::float32) {
    return graph.add_tensor({name, type, std::move(shape)});
  };
  const auto weight = [&](const char* name, std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
    const TensorId id = tensor(name, rows > 0 ? Shape{rows, columns} : Shape{columns});
    graph.initializers.push_back(
        {id, {random_floats(static_cast<std::size_t>(std::max<std::int64_t>(rows, 1) * columns), seed), {}}});
    return id;
  };
  const TensorId x = tensor("x", Shape{4, 64}), same = tensor("same"), shape = tensor("shape", {}, ElementType::int64),
                 flat = tensor("flat"), hidden = tensor("hidden"), active = tensor("active"), y = tensor("y", Shape{4, 32}),
                 unused = tensor("unused");
  const TensorId v = weight("v", 96, 64, 1), bias = weight("bias", 0, 96, 2), w = weight("w", 96, 32, 3);
  graph.inputs = {x};
  graph.outputs = {y};
  graph.nodes = {{"same", "Identity", "", {x}, {same}, {}},
                 {"shape", "Shape", "", {same}, {shape}, {}},
                 {"flat", "Reshape", "", {same, shape}, {flat}, {}},
                 {"gemm", "Gemm", "", {flat, v, bias}, {hidden}, {{"transB", std::int64_t{1}}}},
                 {"unused", "Exp", "", {hidden}, {unused}, {}},
                 {"relu", "Relu", "", {hidden}, {active}, {}},
                 {"matmul", "MatMul", "", {active, w}, {y}, {}}};
  return graph;
}

// x[1, 8, 12, 12] -> Conv -> BatchNormalization -> Relu -> Conv -> Add of the first activation -> Relu -> GlobalAveragePool ->
// Flatten -> Gemm -> y.
graph::Graph small_network() {
  graph::Graph graph;
  graph.opsets[""] = 17;
  graph.format_version = 8;
  const auto tensor = [&](const char* name, std::optional<Shape> shape = std::nullopt) {
    return graph.add_tensor({name, ElementType::float32, std::move(shape)});
  };
  const auto weight = [&](const char* name, const std::vector<std::int64_t>& dims, std::uint64_t seed) {
    const TensorId id = tensor(name, Shape(dims.begin(), dims.end()));
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    graph.initializers.push_back({id, {random_floats(count, seed), {}}});
    return id;
  };
  const auto ones = [&](const char* name) {
    const TensorId id = tensor(name, Shape{16});
    std::vector<std::byte> bytes(16 * sizeof(float));
    const std::vector<float> values(16, 1.5F);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    graph.initializers.push_back({id, {std::move(bytes), {}}});
    return id;
  };
  const TensorId x = tensor("x", Shape{1, 8, 12, 12}), a = tensor("a"), b = tensor("b"), c = tensor("c"), d = tensor("d"),
                 e = tensor("e"), f = tensor("f"), g = tensor("g"), h = tensor("h"), y = tensor("y", Shape{1, 64});
  const std::vector<graph::Attribute> pads = {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}};
  graph.inputs = {x};
  graph.outputs = {y};
  graph.nodes = {{"conv1", "Conv", "", {x, weight("w1", {16, 8, 3, 3}, 1)}, {a}, pads},
                 {"norm",
                  "BatchNormalization",
                  "",
                  {a, weight("s", {16}, 2), weight("t", {16}, 3), weight("m", {16}, 4), ones("v")},
                  {b},
                  {}},
                 {"relu1", "Relu", "", {b}, {c}, {}},
                 {"conv2", "Conv", "", {c, weight("w2", {16, 16, 3, 3}, 5), weight("b2", {16}, 6)}, {d}, pads},
                 {"add", "Add", "", {d, c}, {e}, {}},
                 {"relu2", "Relu", "", {e}, {f}, {}},
                 {"pool", "GlobalAveragePool", "", {f}, {g}, {}},
                 {"flat", "Flatten", "", {g}, {h}, {}},
                 {"gemm", "Gemm", "", {h, weight("w3", {64, 16}, 7), weight("b3", {64}, 8)}, {y}, {{"transB", std::int64_t{1}}}}};
  return graph;
}

class RewrittenModel : public testing::Test {
 protected:
  void SetUp() override {
    LibrarySearch search;
    search.environment = core::Environment::of_process();
    search.paths = core::Paths::find(search.environment, core::executable_path());
    auto opened = Runtime::open(search);
    if (!opened) GTEST_SKIP() << "no ONNX Runtime library on this machine";
    runtime_ = *opened;
    ASSERT_TRUE(graph::onnx::write(two_layers(), nullptr, original_));
  }
  std::vector<float> outputs_of(const std::string& path) {
    return first_output(path, {"x", ElementType::float32, {4, 64}, random_floats(4 * 64, 7)});
  }
  std::vector<TensorData> tensors_of(const std::string& path, const TensorData& input) {
    BackendOptions options;
    options.provider = "CPUExecutionProvider";
    options.intra_op_threads = 1;
    auto backend = runtime_->open_model(path, options);
    EXPECT_TRUE(backend) << backend.error().text();
    if (!backend) return {};
    EXPECT_TRUE((*backend)->bind({input}));
    EXPECT_TRUE((*backend)->run_once());
    const auto tensors = (*backend)->read_outputs();
    EXPECT_TRUE(tensors);
    return tensors ? *tensors : std::vector<TensorData>();
  }
  std::vector<float> first_output(const std::string& path, const TensorData& input) {
    const auto tensors = tensors_of(path, input);
    if (tensors.empty()) return {};
    std::vector<float> values(tensors.front().bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensors.front().bytes.data(), tensors.front().bytes.size());
    return values;
  }
  // Largest error of the outputs over the RMS of the original's.
  double error_after(const std::vector<std::string>& passes) {
    const std::string path = core::join_path(folder_.path(), "rewritten.onnx");
    const auto done = graph::rewrite::rewrite_model(original_, passes, path);
    EXPECT_TRUE(done) << done.error().text();
    return error_of(outputs_of(original_), outputs_of(path));
  }
  static double error_of(const std::vector<float>& before, const std::vector<float>& after) {
    double squares = 0, worst = 0;
    for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
      squares += static_cast<double>(before[i]) * before[i];
      worst = std::max(worst, std::abs(static_cast<double>(before[i]) - after[i]));
    }
    return after.size() == before.size() ? worst / std::sqrt(squares / static_cast<double>(before.size())) : HUGE_VAL;
  }
  core::TemporaryDirectory folder_ = *core::TemporaryDirectory::make(testing::TempDir());
  std::string original_ = core::join_path(folder_.path(), "original.onnx");
  std::shared_ptr<Runtime> runtime_;
};

TEST_F(RewrittenModel, CleanKeepsOutputs) { EXPECT_LT(error_after({"clean"}), 1e-6); }
TEST_F(RewrittenModel, DynamicInt8IsClose) { EXPECT_LT(error_after({"int8_dynamic"}), 0.05); }
TEST_F(RewrittenModel, EightBitWeightsAreClose) { EXPECT_LT(error_after({"int8_weights"}), 0.05); }
TEST_F(RewrittenModel, Float16IsCloseAndNotTheSame) {
  const double error = error_after({"float16"});
  EXPECT_LT(error, 0.005);
  EXPECT_GT(error, 1e-6);
}
TEST_F(RewrittenModel, Float16KeepsANetworkOfConvolutions) {
  const std::string model = core::join_path(folder_.path(), "network.onnx"), path = core::join_path(folder_.path(), "half.onnx");
  ASSERT_TRUE(graph::onnx::write(small_network(), nullptr, model));
  const auto done = graph::rewrite::rewrite_model(model, {"float16"}, path);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->front().nodes, 9);
  const TensorData input{"x", ElementType::float32, {1, 8, 12, 12}, random_floats(8 * 12 * 12, 9)};
  EXPECT_LT(error_of(first_output(model, input), first_output(path, input)), 0.01);
}
TEST_F(RewrittenModel, FourBitWeightsAreRougher) {
  const double error = error_after({"int4_weights"});
  EXPECT_LT(error, 0.5);
  EXPECT_GT(error, error_after({"int8_weights"}));
}
TEST_F(RewrittenModel, StaticInt8IsCloseAndNotTheSame) {
  const std::string model = core::join_path(folder_.path(), "network.onnx"),
                    ranges = core::join_path(folder_.path(), "ranges.onnx"),
                    path = core::join_path(folder_.path(), "static.onnx");
  ASSERT_TRUE(graph::onnx::write(small_network(), nullptr, model));
  const TensorData input{"x", ElementType::float32, {1, 8, 12, 12}, random_floats(8 * 12 * 12, 9)};
  const auto names = graph::rewrite::write_range_model(model, ranges);
  ASSERT_TRUE(names) << names.error().text();
  const auto extremes = tensors_of(ranges, input);
  ASSERT_EQ(extremes.size(), 2 * names->size());
  graph::rewrite::ActivationRanges measured;
  for (std::size_t i = 0; i < names->size(); ++i) {
    auto& range = measured[(*names)[i]];
    std::memcpy(&range.lowest, extremes[2 * i].bytes.data(), sizeof(float));
    std::memcpy(&range.highest, extremes[2 * i + 1].bytes.data(), sizeof(float));
  }
  const auto done = graph::rewrite::rewrite_model(model, {"int8_static"}, path, measured);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->front().nodes, 3);
  const double error = error_of(first_output(model, input), first_output(path, input));
  EXPECT_LT(error, 0.1);
  EXPECT_GT(error, 1e-5);
}
TEST_F(RewrittenModel, PassesCombine) { EXPECT_LT(error_after({"clean", "int8_dynamic"}), 0.05); }

}  // namespace
}  // namespace aaco::runner::ort
