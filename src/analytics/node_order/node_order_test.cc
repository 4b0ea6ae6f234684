#include "analytics/node_order.h"

#include <gtest/gtest.h>

namespace aaco::analytics::node_order {
namespace {

using fingerprint::Family;
using graph::OperatorClass;

Node node(OperatorClass kind, std::string op_type, double flops = 0) {
  Node out;
  out.kind = kind;
  out.op_type = std::move(op_type);
  if (flops > 0) out.flops = flops;
  return out;
}
Node conv(double flops = 0) { return node(OperatorClass::convolution, "Conv", flops); }
Node relu() { return node(OperatorClass::elementwise, "Relu"); }
Node matmul(double flops = 0) { return node(OperatorClass::gemm, "MatMul", flops); }

Kernel kernel(Family family, std::string name = "k", double duration_ns = 1000) {
  Kernel out;
  out.name = std::move(name);
  out.family = family;
  out.duration_ns = duration_ns;
  return out;
}

// "0 1 - 2": the node of each kernel.
std::string nodes_of(const core::Result<Alignment>& alignment) {
  if (!alignment) return "refused";
  std::string text;
  for (const Cause& cause : alignment->causes)
    text += (text.empty() ? "" : " ") + (cause.node ? std::to_string(*cause.node) : "-");
  return text;
}

TEST(NodeOrder, OneKernelPerNode) {
  const std::vector<Node> nodes = {conv(), relu(), matmul()};
  const std::vector<Kernel> kernels = {kernel(Family::convolution), kernel(Family::elementwise, "relu_kernel"),
                                       kernel(Family::gemm)};
  const auto found = align(nodes, kernels);
  EXPECT_EQ(nodes_of(found), "0 1 2");
  EXPECT_GT(found->plausibility, 0.95);
  for (const Cause& cause : found->causes) {
    EXPECT_GT(cause.confidence, 0.6);
    EXPECT_LE(cause.confidence, kMaxConfidence);  // no order is a proof
  }
}

TEST(NodeOrder, FusedNodesHaveNoKernel) {
  std::vector<Node> nodes;
  std::vector<Kernel> kernels;
  for (int i = 0; i < 6; ++i) {
    nodes.push_back(conv());
    nodes.push_back(node(OperatorClass::normalisation, "BatchNormalization"));
    nodes.push_back(relu());
    kernels.push_back(kernel(Family::convolution));
  }
  EXPECT_EQ(nodes_of(align(nodes, kernels)), "0 3 6 9 12 15");
}

TEST(NodeOrder, ViewsAndHostNodesNeverHaveOne) {
  const std::vector<Node> nodes = {node(OperatorClass::host, "Shape"), matmul(), node(OperatorClass::view, "Reshape"), matmul()};
  EXPECT_EQ(nodes_of(align(nodes, std::vector<Kernel>{kernel(Family::gemm), kernel(Family::gemm)})), "1 3");
}

TEST(NodeOrder, AuxiliaryKernelsBelongToTheirNode) {
  const std::vector<Node> nodes = {conv(), matmul()};
  const std::vector<Kernel> kernels = {kernel(Family::copy_transpose, "nchwToNhwc"), kernel(Family::convolution),
                                       kernel(Family::gemm), kernel(Family::reduction, "splitKreduce")};
  EXPECT_EQ(nodes_of(align(nodes, kernels)), "0 0 1 1");
}

TEST(NodeOrder, UnrelatedKernelsStayUnmatched) {
  const std::vector<Node> nodes = {matmul(), matmul()};
  const std::vector<Kernel> kernels = {kernel(Family::rng), kernel(Family::gemm), kernel(Family::sort_scan),
                                       kernel(Family::gemm)};
  EXPECT_EQ(nodes_of(align(nodes, kernels)), "- 0 - 1");
}

TEST(NodeOrder, GridSizeDistinguishesEqualNodes) {
  std::vector<Node> nodes = {matmul(), relu(), relu(), matmul()};
  nodes[1].elements = 1'000'000;
  nodes[2].elements = 1'000;
  std::vector<Kernel> kernels = {kernel(Family::gemm), kernel(Family::elementwise, "e"), kernel(Family::gemm)};
  kernels[1].threads = 1'024;
  const auto small = align(nodes, kernels);
  EXPECT_EQ(nodes_of(small), "0 2 3");
  kernels[1].threads = 250'112;
  EXPECT_EQ(nodes_of(align(nodes, kernels)), "0 1 3");
}

TEST(NodeOrder, NodeNameInKernelDecides) {
  std::vector<Node> nodes = {conv(), conv()};
  nodes[0].name = "/layer1/conv1";
  nodes[1].name = "/layer1/conv12";
  const auto found = align(nodes, std::vector<Kernel>{kernel(Family::convolution, "fused /layer1/conv1 + relu"),
                                                      kernel(Family::convolution, "fused /layer1/conv12")});
  EXPECT_EQ(nodes_of(found), "0 1");
  EXPECT_TRUE(found->causes[0].by_name);
  EXPECT_GT(found->causes[0].confidence, 0.9);
}

TEST(NodeOrder, MatchesCompilerGeneratedKernelNames) {
  std::vector<Node> nodes(3);
  nodes[0].kernel = "mlir_convolution_relu";
  nodes[1].kernel = "add_kernel";
  nodes[2].kernel = "mlir_convolution_relu";
  const auto found = align(nodes, std::vector<Kernel>{kernel(Family::convolution, "mlir_convolution_relu.kd"),
                                                      kernel(Family::elementwise, "add_kernel"), kernel(Family::rng, "else"),
                                                      kernel(Family::convolution, "mlir_convolution_relu")});
  EXPECT_EQ(nodes_of(found), "0 1 - 2");
  EXPECT_TRUE(found->causes[3].by_name);
}

TEST(NodeOrder, HowOftenAGraphRan) {
  const std::vector<Node> nodes = {conv(), relu(), matmul()};
  std::vector<Kernel> kernels;
  EXPECT_EQ(likely_runs(nodes, kernels), 1U);
  for (int i = 0; i < 7; ++i) {
    kernels.push_back(kernel(Family::convolution));
    kernels.push_back(kernel(Family::elementwise));
    kernels.push_back(kernel(Family::gemm));
  }
  EXPECT_EQ(likely_runs(nodes, kernels), 7U);
  EXPECT_EQ(likely_runs(std::vector<Node>{relu()}, kernels), 1U);
}

TEST(NodeOrder, EqualCandidatesAreUncertain) {
  // One element-wise kernel, two nodes that could be its cause.
  const std::vector<Node> nodes = {matmul(), node(OperatorClass::elementwise, "Mul"), node(OperatorClass::elementwise, "Sub"),
                                   matmul()};
  const auto found =
      align(nodes, std::vector<Kernel>{kernel(Family::gemm), kernel(Family::elementwise, "e"), kernel(Family::gemm)});
  ASSERT_TRUE(found.has_value());
  EXPECT_LT(found->causes[1].confidence, 0.5);
  EXPECT_GT(found->causes[0].confidence, 0.6);
}

// Graphs that are not those of the kernels.
TEST(NodeOrder, WrongGraphMatchesNothing) {
  std::vector<Node> convolutions, products;
  std::vector<Kernel> kernels;
  for (int i = 0; i < 20; ++i) {
    convolutions.push_back(conv());
    products.push_back(matmul());
    products.push_back(node(OperatorClass::softmax, "Softmax"));
    kernels.push_back(kernel(Family::convolution));
    kernels.push_back(kernel(Family::elementwise));
  }
  EXPECT_LT(align(products, kernels)->plausibility, kMinPlausible);
  const auto halved = align(std::span(convolutions).first(10), kernels);  // half as deep
  EXPECT_LT(halved->plausibility, kMinPlausible);
  for (const Cause& cause : halved->causes) EXPECT_FALSE(cause.node.has_value());
  EXPECT_GT(align(convolutions, kernels)->plausibility, 0.9);
}

TEST(NodeOrder, WorkInconsistentWithTimesIsImplausible) {
  std::vector<Node> nodes;
  std::vector<Kernel> right, wrong;
  for (int i = 1; i <= 16; ++i) {
    nodes.push_back(matmul(1e6 * i));
    right.push_back(kernel(Family::gemm, "g", 100.0 * i));
    wrong.push_back(kernel(Family::gemm, "g", 100.0 * (17 - i)));
  }
  EXPECT_GT(align(nodes, right)->plausibility, 0.9);
  EXPECT_NEAR(align(nodes, right)->work_correlation.value(), 1, 1e-9);
  EXPECT_LT(align(nodes, wrong)->plausibility, kMinPlausible);
}

TEST(NodeOrder, EmptyAndOversizedInputs) {
  EXPECT_EQ(nodes_of(align({}, std::vector<Kernel>{kernel(Family::gemm)})), "-");
  EXPECT_EQ(nodes_of(align(std::vector<Node>{conv()}, {})), "");
  const std::vector<Node> many(5'000, matmul());
  const std::vector<Kernel> kernels(5'000, kernel(Family::gemm));
  EXPECT_FALSE(align(many, kernels).has_value());
}

}  // namespace
}  // namespace aaco::analytics::node_order
