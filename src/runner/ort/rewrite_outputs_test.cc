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
    BackendOptions options;
    options.provider = "CPUExecutionProvider";
    options.intra_op_threads = 1;
    auto backend = runtime_->open_model(path, options);
    EXPECT_TRUE(backend) << backend.error().text();
    if (!backend) return {};
    EXPECT_TRUE((*backend)->bind({{"x", ElementType::float32, {4, 64}, random_floats(4 * 64, 7)}}));
    EXPECT_TRUE((*backend)->run_once());
    const auto tensors = (*backend)->read_outputs();
    EXPECT_TRUE(tensors);
    std::vector<float> values(4 * 32);
    std::memcpy(values.data(), tensors->front().bytes.data(), values.size() * sizeof(float));
    return values;
  }
  // Largest error of the outputs over the RMS of the original's.
  double error_after(const std::vector<std::string>& passes) {
    const std::string path = core::join_path(folder_.path(), "rewritten.onnx");
    const auto done = graph::rewrite::rewrite_model(original_, passes, path);
    EXPECT_TRUE(done) << done.error().text();
    const auto before = outputs_of(original_), after = outputs_of(path);
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
TEST_F(RewrittenModel, FourBitWeightsAreRougher) {
  const double error = error_after({"int4_weights"});
  EXPECT_LT(error, 0.5);
  EXPECT_GT(error, error_after({"int8_weights"}));
}
TEST_F(RewrittenModel, PassesCombine) { EXPECT_LT(error_after({"clean", "int8_dynamic"}), 0.05); }

}  // namespace
}  // namespace aaco::runner::ort
