#include "workflows/models/model_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"
#include "workflows/graph_nodes.h"
#include "workflows/model_plan.h"

namespace aaco::workflows {
namespace {

using core::Json;
using graph::ElementType;
using graph::OperatorClass;
using testing::HasSubstr;

// y = Relu(x * w): x [batch, 4], w [4, 8].
graph::Graph product() {
  graph::Graph graph;
  graph.opsets[""] = 17;
  const auto x = graph.add_tensor({"x", ElementType::float32, graph::Shape{"batch", 4}});
  const auto w = graph.add_tensor({"w", ElementType::float32, graph::Shape{4, 8}});
  const auto h = graph.add_tensor({"h", ElementType::float32, {}});
  const auto y = graph.add_tensor({"y", ElementType::float32, {}});
  graph.inputs = {x};
  graph.outputs = {y};
  graph.initializers.push_back({w, {}});
  graph.nodes.push_back({"product", "MatMul", "", {x, w}, {h}, {}});
  graph.nodes.push_back({"relu", "Relu", "", {h}, {y}, {}});
  return graph;
}

Json inputs_of(const char* name, std::vector<std::int64_t> shape) {
  Json sizes = Json::array();
  for (const std::int64_t size : shape) sizes.push(size);
  return Json::array({Json::object({{"name", name}, {"shape", std::move(sizes)}})});
}

TEST(ModelWork, CountsTheOperatorsAndEachTensorOnce) {
  const auto work = model_work(product(), inputs_of("x", {2, 4}));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, 2 * 2 * 4 * 8 + 2 * 8) << "a multiplication and an addition per weight and row, one per activation";
  EXPECT_EQ(work->bytes, 4 * (2 * 4 + 4 * 8 + 2 * 8) + 4 * (2 * 8 + 2 * 8)) << "operands and result of both";
  EXPECT_EQ(work->node_count, 2);
  EXPECT_EQ(work->rest["weight_bytes"].as_i64(), 4 * 4 * 8);
  EXPECT_EQ(work->rest["confidence_ratio"].as_f64(), 1.0);
}
TEST(ModelWork, FollowsTheSizesOfTheRun) {
  EXPECT_EQ(*model_work(product(), inputs_of("x", {6, 4}))->flops, 3 * *model_work(product(), inputs_of("x", {2, 4}))->flops);
}
TEST(ModelWork, InputsOfAnotherNameOrRankAreNotBound) {
  EXPECT_EQ(model_work(product(), inputs_of("z", {6, 4}))->flops, model_work(product(), Json::array())->flops);
  EXPECT_EQ(model_work(product(), inputs_of("x", {6, 4, 1}))->flops, model_work(product(), Json::array())->flops);
}
TEST(ModelWork, UnmodelledOperatorsLowerTheConfidence) {
  auto graph = product();
  graph.nodes[1].op_type = "Mystery";
  graph.nodes[1].domain = "acme";
  const auto work = model_work(graph, inputs_of("x", {2, 4}));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, 2 * 2 * 4 * 8);
  EXPECT_LT(*work->rest["confidence_ratio"].as_f64(), 1);
}

class ModelPlan : public testing::Test {
 protected:
  core::Result<Json> plan(const std::string& backend, std::vector<std::string> on_host = {}) {
    const auto model = model_as_run(product(), inputs_of("x", {2, 4})).value();
    return plan_model(model.graph, graph::cost_of(model.graph), {backend, std::move(on_host)}, lake_.services);
  }
  Lake lake_;
};

TEST_F(ModelPlan, ABackendThatTakesEverythingIsOnePart) {
  const auto out = plan("onnxruntime_cpu");
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ((*out)["partition"]["parts"].items().size(), 1U);
  EXPECT_EQ((*out)["partition"]["transfer_bytes"].as_i64(), 0);
  EXPECT_EQ((*out)["concurrency"]["longest_chain_nodes"].as_i64(), 2);
  EXPECT_EQ((*out)["concurrency"]["longest_chain_flops"].as_i64(), 144);
}
TEST_F(ModelPlan, AnOperatorOnTheHostCostsACopy) {
  for (const char* backend : {"onnxruntime_cpu", "migraphx"}) {
    const auto out = plan(backend, {"Relu"});
    ASSERT_TRUE(out) << out.error().text();
    const auto& parts = (*out)["partition"]["parts"].items();
    ASSERT_EQ(parts.size(), 2U) << backend;
    EXPECT_EQ(parts[0]["target"].text(), backend);
    EXPECT_EQ(parts[1]["target"].text(), "host");
    EXPECT_EQ((*out)["partition"]["transfer_bytes"].as_i64(), 2 * 8 * 4) << "the product's result";
    EXPECT_THAT((*out)["partition"]["refusals"].items()[0]["reason"].text(), HasSubstr("request"));
  }
}
TEST_F(ModelPlan, RefusesBackendWithoutFusionRules) {
  const auto out = plan("nosuch");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, core::ErrorCode::not_found);
  EXPECT_THAT(out.error().remedy, HasSubstr("migraphx, onnxruntime_cpu"));
}
TEST_F(ModelPlan, RefusesOperatorThatTheModelLacks) {
  const auto out = plan("migraphx", {"Conv"});
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("the model has no operator 'Conv'"));
}

trace::NodeExecutionRow executed(trace::Sink& sink, const char* name, const char* op, const char* provider, std::int64_t start) {
  trace::NodeExecutionRow row;
  row.node_name = sink.name(name);
  row.op_type = sink.name(op);
  row.provider = sink.name(provider);
  row.start_ns = start;
  row.duration_ns = 10;
  return row;
}

TEST(GraphNodes, ModelNodesHaveWorkAndClass) {
  const auto nodes = nodes_of(model_as_run(product(), inputs_of("x", {2, 4})).value(), "model.onnx");
  ASSERT_EQ(nodes.nodes.size(), 2U);
  EXPECT_EQ(nodes.source, "model.onnx");
  EXPECT_EQ(nodes.nodes[0].kind, OperatorClass::gemm);
  EXPECT_EQ(nodes.nodes[0].flops, 128);
  EXPECT_EQ(nodes.nodes[0].elements, 16);
  EXPECT_EQ(nodes.nodes[1].kind, OperatorClass::elementwise);
}
TEST(GraphNodes, ExecutedNodesAreOrderedByTheirFirstStartWithoutTheCpu) {
  const Lake lake;
  MadeSession made;
  made.rows = [](trace::Sink& sink) {
    sink.add(executed(sink, "second", "MatMul", "CUDAExecutionProvider", 50));
    sink.add(executed(sink, "first", "Relu", "CUDAExecutionProvider", 90));
    sink.add(executed(sink, "first", "Relu", "CUDAExecutionProvider", 20));
    sink.add(executed(sink, "host", "Shape", "CPUExecutionProvider", 10));
  };
  const auto nodes = session_nodes(lake.make(made).path);
  ASSERT_TRUE(nodes) << nodes.error().text();
  EXPECT_EQ(nodes->source, "node_executions");
  ASSERT_EQ(nodes->nodes.size(), 2U);
  EXPECT_EQ(nodes->nodes[0].name, "first");
  EXPECT_EQ(nodes->nodes[1].name, "second");
}
TEST(GraphNodes, AStoredGraphHasPrecedenceOverExecutions) {
  const Lake lake;
  MadeSession made;
  made.rows = [](trace::Sink& sink) {
    sink.add(executed(sink, "ran", "Relu", "CUDAExecutionProvider", 20));
    for (const auto& [index, op] : {std::pair{1, "gpu::code_object::mul_kernel"}, {0, "gpu::convolution"}, {2, "nosuch"}}) {
      trace::GraphNodeRow row;
      row.node_index = index;
      row.op_type = sink.name(op);
      row.domain = sink.name("migraphx");
      sink.add(row);
    }
  };
  const auto nodes = session_nodes(lake.make(made).path);
  ASSERT_TRUE(nodes) << nodes.error().text();
  EXPECT_EQ(nodes->source, "graph_nodes");
  ASSERT_EQ(nodes->nodes.size(), 3U);
  EXPECT_EQ(nodes->nodes[0].kind, OperatorClass::convolution);
  EXPECT_EQ(nodes->nodes[1].kernel, "mul_kernel");
  EXPECT_EQ(nodes->nodes[1].kind, OperatorClass::elementwise);
  EXPECT_EQ(nodes->nodes[2].kind, OperatorClass::unknown);
}
TEST(GraphNodes, ASessionWithoutNodesHasNoSource) {
  const Lake lake;
  const auto nodes = session_nodes(lake.make({}).path);
  ASSERT_TRUE(nodes);
  EXPECT_TRUE(nodes->source.empty() && nodes->nodes.empty());
}

}  // namespace
}  // namespace aaco::workflows
