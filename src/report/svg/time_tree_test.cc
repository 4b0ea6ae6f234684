#include "report/svg/time_tree.h"

#include <gtest/gtest.h>

namespace aaco::report {
namespace {

TimeShare share(std::string name, double ns, std::string group = "", std::string parent = "") {
  TimeShare out;
  out.name = std::move(name);
  out.total_ns = ns;
  out.group = std::move(group);
  out.parent = std::move(parent);
  return out;
}

TEST(TimeTree, EmptyModelHasNoChildren) { EXPECT_TRUE(build_time_tree({}).children.empty()); }
TEST(TimeTree, FourLevels) {
  ReportModel model;
  model.parts = {share("Operators", 9), share("Gaps", 1)};
  model.operators = {share("Conv", 8)};
  model.nodes = {share("conv1", 5, "Conv"), share("conv2", 3, "Conv")};
  model.kernels = {share("gemm", 4, "gemm", "conv1"), share("stray", 1)};
  const TimeNode root = build_time_tree(model);
  EXPECT_EQ(root.total_ns, 10);
  ASSERT_EQ(root.children[0].children.size(), 1U);
  const TimeNode& conv = root.children[0].children[0];
  EXPECT_EQ(conv.children[0].name, "conv1");
  EXPECT_EQ(conv.children[0].children[0].name, "gemm");
}
TEST(TimeTree, KernelsOfATraceStandInTheirPart) {
  ReportModel model;
  model.time_whole = TimeWhole::trace;
  model.parts = {share("GPU compute", 6), share("idle: late launch", 4)};
  model.kernels = {share("relu", 2, "elementwise", "GPU compute"), share("gemm", 4, "gemm", "GPU compute")};
  const TimeNode root = build_time_tree(model);
  EXPECT_EQ(root.name, "trace");
  ASSERT_EQ(root.children[0].children.size(), 2U);
  EXPECT_EQ(root.children[0].children[0].name, "gemm");
  EXPECT_TRUE(root.children[1].children.empty());
}
TEST(TimeTree, OperatorUnderItsNamedPart) {
  ReportModel model;
  model.parts = {share("CPU", 5), share("GPU", 5)};
  model.operators = {share("MatMul", 4, "", "GPU")};
  EXPECT_EQ(build_time_tree(model).children[1].children[0].name, "MatMul");
}
TEST(TimeTree, UnknownPartFallsToTheFirst) {
  ReportModel model;
  model.parts = {share("CPU", 5)};
  model.operators = {share("MatMul", 4, "", "nowhere")};
  EXPECT_EQ(build_time_tree(model).children[0].children.size(), 1U);
}
TEST(TimeTree, OperatorsAloneAreTheTop) {
  ReportModel model;
  model.operators = {share("Add", 1), share("Conv", 8)};
  const TimeNode root = build_time_tree(model);
  EXPECT_EQ(root.children[0].name, "Conv");
  EXPECT_EQ(root.total_ns, 9);
}
TEST(TimeTree, KernelsAloneAreTheTop) {
  ReportModel model;
  model.kernels = {share("gemm", 2)};
  EXPECT_EQ(build_time_tree(model).children.size(), 1U);
}

}  // namespace
}  // namespace aaco::report
