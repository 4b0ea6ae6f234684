#include "workflows/predict/session_estimates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"
#include "tests/support/shipped_device.h"

namespace aaco::workflows {
namespace {

using core::Json;
using graph::ElementType;

constexpr const char* kSummary = "predict/estimate_summary.json";

// y = Relu(x * w): x [batch, 4096], w [4096, 4096].
graph::Graph product(const char* op = "MatMul") {
  graph::Graph graph;
  graph.opsets[""] = 17;
  const auto x = graph.add_tensor({"x", ElementType::float32, graph::Shape{"batch", 4096}});
  const auto w = graph.add_tensor({"w", ElementType::float32, graph::Shape{4096, 4096}});
  const auto h = graph.add_tensor({"h", ElementType::float32, {}});
  const auto y = graph.add_tensor({"y", ElementType::float32, {}});
  graph.inputs = {x};
  graph.outputs = {y};
  graph.initializers.push_back({w, {}});
  graph.nodes.push_back({"product", op, "", {x, w}, {h}, {}});
  graph.nodes.push_back({"relu", "Relu", "", {h}, {y}, {}});
  return graph;
}

Json inputs(std::int64_t rows, std::int64_t columns = 4096) {
  return Json::array({Json::object({{"name", "x"}, {"shape", Json::array({rows, columns})}})});
}

class StoredEstimates : public testing::Test {
 protected:
  // The status of storing, and the session's path.
  std::pair<core::Status, std::string> stored(const graph::Graph& graph, const Json& shapes) {
    auto draft = SessionDraft::begin("run", "", {}, lake_.services).value();
    auto status = store_estimates(graph, shapes, device_, draft, lake_.services);
    return {std::move(status), draft.finish({}, false).value().path};
  }
  SessionEstimates read(const graph::Graph& graph, const Json& shapes) {
    const auto [status, path] = stored(graph, shapes);
    EXPECT_TRUE(status) << status.error().text();
    return read_estimates(path).value();
  }
  Lake lake_;
  hardware::Device device_ = hardware::shipped_device("amd_epyc_9654_96c");
};

TEST_F(StoredEstimates, AreReadBackWithTheirNodes) {
  const auto out = read(product(), inputs(8));
  ASSERT_FALSE(out.nodes.empty());
  const auto& node = out.nodes.front();
  EXPECT_EQ(out.names.text(node.node_name), "product");
  EXPECT_EQ(out.names.text(node.hardware), device_.id);
  EXPECT_EQ(out.names.text(node.operator_class), "gemm");
  EXPECT_EQ(node.flops, 2.0 * 8 * 4096 * 4096);
  EXPECT_EQ(node.attainable_ns, std::max(node.compute_ns, node.memory_ns));
  EXPECT_LE(node.predicted_lower_ns, node.predicted_ns);
  EXPECT_GE(node.predicted_upper_ns, node.predicted_ns);
  EXPECT_EQ(out.summary["device"].text(), device_.id);
  EXPECT_EQ(out.summary["flops_per_s"]["value"].as_f64(), device_.peak_ops_per_s("float32"));
}
TEST_F(StoredEstimates, FollowTheSizesOfTheRun) {
  const auto few = read(product(), inputs(8)), many = read(product(), inputs(16));
  EXPECT_EQ(many.nodes.front().flops, 2 * few.nodes.front().flops);
}
TEST_F(StoredEstimates, AFusedKernelMayBeNamedAfterAnyResultOfItsChain) {
  const auto out = read(product(), inputs(8));
  EXPECT_EQ(out.names.text(out.nodes.front().aliases), R"(["h","y"])");
  auto apart = product();
  apart.nodes[1].op_type = "Softmax";
  const auto parted = read(apart, inputs(8));
  EXPECT_EQ(parted.names.text(parted.nodes.front().aliases), R"(["h"])") << "a reduction ends the chain";
}
TEST_F(StoredEstimates, AreNotStoredForSizesThatContradict) {
  const auto [status, path] = stored(product(), inputs(8, 100));
  EXPECT_FALSE(status);
  EXPECT_FALSE(core::exists(core::join_path(path, kSummary)));
  const auto out = read_estimates(path);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->summary.is_null() && out->nodes.empty());
}
TEST_F(StoredEstimates, AreNotStoredForWorkThatCannotBePredicted) {
  graph::Graph graph;
  const auto x = graph.add_tensor({"x", ElementType::float32, graph::Shape{4}});
  graph.inputs = graph.outputs = {x};
  EXPECT_FALSE(stored(graph, Json::array()).first);
}

TEST(ReadEstimates, AnyOtherSessionHasNone) {
  const Lake lake;
  const auto out = read_estimates(lake.make({}).path);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->nodes.empty() && out->summary.is_null());
  EXPECT_TRUE(read_estimates(lake.in("missing")));
}
TEST(ReadEstimates, RefusesADamagedSummary) {
  const Lake lake;
  MadeSession made;
  made.documents.emplace_back(kSummary, Json::object({{"schema_version", 1}}));
  const std::string path = lake.make(made).path;
  EXPECT_TRUE(read_estimates(path));
  for (const char* text : {"", "{\"schema_version\": 1", "{} {}"}) {
    ASSERT_TRUE(core::write_file_atomic(core::join_path(path, kSummary), text));
    EXPECT_FALSE(read_estimates(path)) << text;
  }
}
TEST(ReadEstimates, RefusesADamagedTable) {
  const Lake lake;
  MadeSession made;
  made.documents.emplace_back(kSummary, Json::object({{"schema_version", 1}}));
  made.rows = [](trace::Sink& sink) { sink.add(trace::EstimateRow()); };
  const std::string path = lake.make(made).path;
  EXPECT_EQ(read_estimates(path)->nodes.size(), 1U);
  ASSERT_TRUE(core::write_file_atomic(core::join_path(path, "predict/estimates.parquet"), "not a table"));
  EXPECT_FALSE(read_estimates(path));
}

}  // namespace
}  // namespace aaco::workflows
