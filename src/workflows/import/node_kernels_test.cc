#include "workflows/gpu/node_kernels.h"

#include <gtest/gtest.h>

#include <map>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "tracelake/lake.h"
#include "workflows/import.h"

namespace aaco::workflows {
namespace {

using analytics::attribution::Method;
using analytics::fingerprint::Family;
using graph::OperatorClass;

GraphNodes small_graph() {
  GraphNodes graph{"test", {}};
  for (const auto& [kind, name] :
       {std::pair{OperatorClass::convolution, "conv"}, {OperatorClass::elementwise, "relu"}, {OperatorClass::gemm, "fc"}}) {
    analytics::node_order::Node node;
    node.kind = kind;
    node.name = name;
    graph.nodes.push_back(node);
  }
  return graph;
}

class NodeKernelsTest : public testing::Test {
 protected:
  trace::IterationRow step(std::int64_t start_ns, std::int64_t length_ns) {
    trace::IterationRow row;
    row.start_ns = start_ns;
    row.duration_ns = length_ns;
    return row;
  }
  void add(NodeKernels& to, const char* name, Family family, std::int64_t start_ns, std::int64_t launched_ns = -1) {
    trace::KernelRow row;
    row.name = names_.intern(name);
    row.start_ns = start_ns;
    row.end_ns = start_ns + 10;
    to.add(row, family, launched_ns < 0 ? std::nullopt : std::optional(launched_ns));
  }
  // Executions by kernel and node.
  std::map<std::string, std::int64_t> counts(const NodeKernels::Result& result) {
    std::map<std::string, std::int64_t> out;
    for (const auto& share : result.shares)
      out[std::string(names_.text(share.kernel_name)) + "/" + std::string(names_.text(share.node_name))] += share.kernel_count;
    return out;
  }
  trace::NameTable names_;
};

TEST_F(NodeKernelsTest, EqualStepsAreJoinedOnceAndCountedAll) {
  NodeKernels kernels(names_, {step(0, 99), step(100, 99), step(200, 99)});
  for (const std::int64_t at : {0, 100, 200}) {
    add(kernels, "c", Family::convolution, at + 10);
    add(kernels, "r", Family::elementwise, at + 30);
    add(kernels, "g", Family::gemm, at + 50);
  }
  const auto result = kernels.join(small_graph());
  const std::map<std::string, std::int64_t> expected = {{"c/conv", 3}, {"r/relu", 3}, {"g/fc", 3}};
  EXPECT_EQ(counts(result), expected);
  ASSERT_EQ(result.summary["joins"].items().size(), 1U);
  EXPECT_EQ(result.summary["joins"].items()[0]["steps"].as_i64(), 3);
  for (const auto& share : result.shares) {
    EXPECT_EQ(share.kernel_sum_ns, 30);
    EXPECT_EQ(share.method, Method::node_order);
    EXPECT_GT(share.confidence, 0.5);
  }
}

TEST_F(NodeKernelsTest, TheLaunchSaysWhoseStepAKernelIs) {
  NodeKernels kernels(names_, {step(0, 99), step(100, 99)});
  add(kernels, "c", Family::convolution, 20, 5);
  add(kernels, "g", Family::gemm, 110, 40);  // runs when the next step has begun
  add(kernels, "c", Family::convolution, 130, 120);
  add(kernels, "g", Family::gemm, 150, 140);
  add(kernels, "g", Family::gemm, 500);  // after all of them
  const auto result = kernels.join(small_graph());
  const std::map<std::string, std::int64_t> expected = {{"c/conv", 2}, {"g/fc", 2}};
  EXPECT_EQ(counts(result), expected);
}

TEST_F(NodeKernelsTest, WithoutStepsTheTraceIsOne) {
  NodeKernels kernels(names_, {});
  add(kernels, "c", Family::convolution, 20);
  add(kernels, "g", Family::gemm, 110);
  EXPECT_EQ(counts(kernels.join(small_graph())).size(), 2U);
}

TEST_F(NodeKernelsTest, AGraphThatRanSeveralTimesWithoutSteps) {
  NodeKernels kernels(names_, {});
  for (int i = 0; i < 5; ++i) {
    add(kernels, "c", Family::convolution, 100 * i);
    add(kernels, "g", Family::gemm, 100 * i + 50);
  }
  const std::map<std::string, std::int64_t> expected = {{"c/conv", 5}, {"g/fc", 5}};
  EXPECT_EQ(counts(kernels.join(small_graph())), expected);
}

TEST_F(NodeKernelsTest, KernelsOfAnotherModelAreJoinedToNothing) {
  NodeKernels kernels(names_, {});
  for (int i = 0; i < 9; ++i) add(kernels, "a", Family::attention, 20 * i);
  const auto result = kernels.join(small_graph());
  EXPECT_TRUE(result.shares.empty());
  EXPECT_FALSE(result.summary["joins"].items()[0]["explanation"].text().empty());
}

// A trace that no launch and no operator explains, and the model of the zoo that it is said to be of: Gemm, Relu, Gemm, Relu,
// Gemm.
class GraphImportTest : public testing::Test {
 protected:
  core::Result<SessionOutcome> run(const std::vector<const char*>& kernels, const std::string& graph) {
    auto made = core::TemporaryDirectory::make(testing::TempDir(), "graph_import");
    EXPECT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
    services_.paths.share = AACO_SOURCE_DIR;  // data/ and configs/ lie there
    services_.paths.sessions = core::join_path(folder_->path(), "sessions");
    std::string text =
        "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_"
        "Timestamp\"\n";
    std::int64_t time = 1000;
    for (int step = 0; step < 8; ++step)
      for (const char* name : kernels) {
        text += "\"KERNEL_DISPATCH\",\"Agent 1\",1,1,\"" + std::string(name) + "\",0," + std::to_string(time) + "," +
                std::to_string(time + 500) + "\n";
        time += 1000;
      }
    ImportRequest request;
    request.paths = {core::join_path(folder_->path(), "1_kernel_trace.csv")};
    EXPECT_TRUE(core::write_file_atomic(request.paths[0], text).has_value());
    request.graph = graph;
    return import(request, services_);
  }
  std::optional<core::TemporaryDirectory> folder_;
  Services services_;
};

TEST_F(GraphImportTest, KernelsGetTheNodesOfTheModel) {
  const auto outcome = run({"Cijk_A_MT64", "relu_kernel", "Cijk_A_MT64", "relu_kernel", "Cijk_A_MT16"}, "mlp");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_DOUBLE_EQ(trace::find_metric(outcome->metrics, "attribution.launch_coverage_ratio")->value, 1);
  EXPECT_NEAR(trace::find_metric(outcome->metrics, "launch.kernel_amplification_ratio")->value, 1, 0.2);
  trace::NameTable names;
  const auto rows = tracelake::read_table<trace::AttributionRow>(outcome->path, names);
  ASSERT_TRUE(rows.has_value());
  std::map<std::string, std::string> nodes;  // by kernel
  for (const auto& row : *rows) {
    EXPECT_EQ(names.text(row.method), "node_order");
    nodes[std::string(names.text(row.kernel_name))] += std::string(names.text(row.node_name)) + " ";
  }
  EXPECT_EQ(nodes.size(), 3U);
  EXPECT_NE(nodes["Cijk_A_MT64"].find("/layers.0/Gemm"), std::string::npos) << nodes["Cijk_A_MT64"];
  EXPECT_NE(nodes["Cijk_A_MT64"].find("/layers.1/Gemm"), std::string::npos);
  EXPECT_EQ(outcome->manifest.outcome.gpu["nodes"]["source"].text(), "mlp");
}

// A program of MIGraphX beside the trace: the kernels it compiled have the names that it gave them.
TEST_F(GraphImportTest, AProgramOfMigraphxInTheFolderNamesItsKernels) {
  ASSERT_TRUE(run({"gemm"}, "mlp").has_value());  // makes the folder
  const std::string folder = core::join_path(folder_->path(), "both");
  ASSERT_TRUE(core::make_directories(folder).has_value());
  ASSERT_TRUE(core::write_file_atomic(core::join_path(folder, "compile.txt"),
                                      "x = @param:x -> float_type, {1, 64}, {64, 1}\n"
                                      "w = @param:w -> float_type, {64, 64}, {64, 1}\n"
                                      "@1 = gpu::code_object[code_object=9,symbol_name=mlir_dot_add,global=64,local=64](x,w) -> "
                                      "float_type, {1, 64}, {64, 1}\n"
                                      "@2 = gpu::add_relu(@1,x) -> float_type, {1, 64}, {64, 1}\n"
                                      "@3 = gpu::code_object[code_object=9,symbol_name=mlir_dot_add,global=64,local=64](@2,w) -> "
                                      "float_type, {1, 64}, {64, 1}\n"
                                      "@4 = @return(@3)\n")
                  .has_value());
  std::string text =
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_"
      "Timestamp\"\n";
  for (int i = 0; i < 60; ++i)
    text += "\"KERNEL_DISPATCH\",\"Agent 1\",1,1,\"" + std::string(i % 3 == 1 ? "add_relu_kernel" : "mlir_dot_add.kd") + "\",0," +
            std::to_string(1000 * i) + "," + std::to_string(1000 * i + 300) + "\n";
  ASSERT_TRUE(core::write_file_atomic(core::join_path(folder, "7_kernel_trace.csv"), text).has_value());
  ImportRequest request;
  request.paths = {folder};
  const auto outcome = import(request, services_);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  trace::NameTable names;
  const auto rows = tracelake::read_table<trace::AttributionRow>(outcome->path, names);
  ASSERT_TRUE(rows.has_value());
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : *rows)
    counts[std::string(names.text(row.kernel_name)) + "/" + std::string(names.text(row.node_name)) + "/" +
           std::string(names.text(row.method))] += row.kernel_count;
  EXPECT_EQ(counts["mlir_dot_add.kd/@1/node_name"], 20);
  EXPECT_EQ(counts["mlir_dot_add.kd/@3/node_name"], 20);
  EXPECT_EQ(counts["add_relu_kernel/@2/node_order"], 20);
}

TEST_F(GraphImportTest, AModelThatDidNotRunIsAWarning) {
  const auto outcome = run({"attn_fwd", "reduce_kernel", "attn_fwd", "sort"}, "mlp");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_DOUBLE_EQ(trace::find_metric(outcome->metrics, "attribution.launch_coverage_ratio")->value, 0);
  bool warned = false;
  for (const auto& warning : outcome->manifest.warnings) warned = warned || warning.id == "attribution.graph_unlike";
  EXPECT_TRUE(warned);
}

TEST_F(GraphImportTest, AModelThatDoesNotExistIsAnErrorAndLeavesNothing) {
  EXPECT_FALSE(run({"gemm"}, "no_such_model").has_value());
  EXPECT_FALSE(core::exists(core::join_path(services_.paths.sessions, "latest")));
}

}  // namespace
}  // namespace aaco::workflows
