#include "estimation/partitioned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shipped_device.h"

namespace aaco::estimation {
namespace {

using graph::ElementType;
using graph::Shape;
using hardware::shipped_device;

// x -> a -> b -> c, and x -> d beside them; products of 512 x 512.
graph::Graph branches() {
  graph::Graph g;
  g.opsets[""] = 17;
  const auto tensor = [&g](const char* name) { return g.add_tensor({name, ElementType::float32, Shape{512, 512}}); };
  const auto x = tensor("x"), w = tensor("w"), a = tensor("a"), b = tensor("b"), c = tensor("c"), d = tensor("d");
  g.inputs = {x};
  g.outputs = {c, d};
  g.initializers = {{w, {}}};
  g.nodes = {{"a", "MatMul", "", {x, w}, {a}, {}},
             {"b", "MatMul", "", {a, w}, {b}, {}},
             {"c", "MatMul", "", {b, w}, {c}, {}},
             {"d", "MatMul", "", {x, w}, {d}, {}}};
  return g;
}

struct Joined {
  GraphEstimate whole;
  PartitionReport report;
};

// The nodes of these names run on the second device.
Joined join(const graph::Graph& graph, const char* first, const char* second, const std::vector<std::string>& off,
            const char* dtype = "") {
  const auto refuses = [off](const graph::Graph&, const graph::Node& node) {
    return std::find(off.begin(), off.end(), node.name) != off.end() ? std::string("asked for") : std::string();
  };
  const graph::Partition parts = partition(graph, {{first, refuses, false}, {second, nullptr, false}});
  const std::array<hardware::Device, 2> devices{shipped_device(first), shipped_device(second)};
  Conditions conditions;
  std::array<Share, 2> shares;
  for (std::size_t target = 0; target < 2; ++target) {
    std::vector<bool> only;
    for (const std::size_t one : parts.target_of) only.push_back(one == target);
    if (std::none_of(only.begin(), only.end(), [](bool one) { return one; })) continue;
    Conditions own;
    own.only = &only;
    own.dtype = dtype;
    auto made = analyze(graph, devices[target], own, nullptr);
    EXPECT_TRUE(made) << made.error().text();
    shares[target] = {&devices[target], &conditions, std::move(*made)};
  }
  Joined out;
  out.report.devices = {devices[0].id, devices[1].id};
  out.whole = join_shares(graph, parts, shares, out.report);
  return out;
}

TEST(Partitioned, AWholeGraphOnOneDeviceCopiesNothing) {
  const Joined all = join(branches(), "h100", "epyc 9654", {});
  EXPECT_EQ(all.report.parts.size(), 1U);
  EXPECT_EQ(all.report.transfers, 0U);
  EXPECT_EQ(all.report.busy[1], 0);
  EXPECT_NEAR(all.whole.latency.value, all.report.busy[0] * 1e9, 1);
  EXPECT_LT(all.report.critical_seconds, all.report.busy[0]) << "d waits for the device alone";
}

TEST(Partitioned, OnChipWeightsAreReported) {
  const Joined all = join(branches(), "hailo-8", "epyc 9654", {}, "int8");
  EXPECT_THAT(all.whole.notes, testing::Contains(testing::HasSubstr("hailo_8_m2: the size of its on-chip memory")));
}

TEST(Partitioned, CrossingCostsTwoCopiesOfTheLink) {
  const Joined torn = join(branches(), "h100", "epyc 9654", {"b"});
  EXPECT_EQ(torn.report.transfers, 2U);
  EXPECT_EQ(torn.report.transfer_bytes, 2.0 * 512 * 512 * 4);
  const double link = shipped_device("h100").host_link->bytes_per_s.value;
  EXPECT_NEAR(torn.report.transfer_seconds, 2 * 10e-6 + torn.report.transfer_bytes / link, 1e-9);
  ASSERT_EQ(torn.report.parts.size(), 3U);
  EXPECT_EQ(torn.report.parts[1].bytes_in, 512.0 * 512 * 4);
  EXPECT_EQ(torn.report.parts[1].bytes_out, 512.0 * 512 * 4);
  EXPECT_EQ(torn.report.parts[1].first, "b");
  EXPECT_GE(torn.whole.latency.value, torn.report.critical_seconds * 1e9 * 0.999);
  EXPECT_EQ(torn.whole.nodes[1].device, shipped_device("epyc 9654").id);
}

TEST(Partitioned, BranchesOnTwoDevicesRunAtOnce) {
  const Joined beside = join(branches(), "epyc 9654", "i7-12700k", {"d"});
  const double both = beside.report.busy[0] + beside.report.busy[1];
  EXPECT_LT(beside.whole.latency.value * 1e-9, both);
  EXPECT_NEAR(beside.whole.latency.value * 1e-9, std::max(beside.report.busy[0], beside.report.busy[1]), 1e-9);
}

TEST(Partitioned, BoundsHoldTheEstimateAndTheSumOfBoth) {
  const Joined torn = join(branches(), "h100", "epyc 9654", {"b"});
  EXPECT_LT(torn.whole.latency.lower, torn.whole.latency.value);
  EXPECT_GT(torn.whole.latency.upper, 2 * torn.whole.latency.value);
  EXPECT_EQ(torn.whole.latency.level, Level::theoretical);
  EXPECT_EQ(torn.whole.classes.at("gemm").nodes, 4);
  ASSERT_TRUE(torn.whole.energy);
  EXPECT_GT(torn.whole.energy->value, 0);
}

TEST(Partitioned, SharedMemoryDeviceUsesMemoryAsLink) {
  const Joined torn = join(branches(), "jetson_orin_maxn", "epyc 9654", {"b"});
  EXPECT_THAT(torn.report.link, testing::HasSubstr("shared LPDDR5"));
}

TEST(Partitioned, UnpublishedLinkIsReported) {
  const Joined torn = join(branches(), "i7-12700k", "epyc 9654", {"b"});
  EXPECT_THAT(torn.report.link, testing::HasSubstr("unknown"));
  EXPECT_NEAR(torn.report.transfer_seconds, 2 * 10e-6, 1e-12);
}

}  // namespace
}  // namespace aaco::estimation
