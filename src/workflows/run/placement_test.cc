#include "workflows/placement.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;

Placement place(const Json& nodes) {
  runner::BackendOptions requested;
  requested.backend = "migraphx";
  requested.provider = "MIGraphXExecutionProvider";
  return placement_of(requested, Json::object({{"nodes_by_provider", nodes}}));
}

// Three of three nodes on the CPU are a run on the CPU.
TEST(Placement, IsTheProviderThatRan) {
  const Placement found = place(Json::object({{"CPUExecutionProvider", 3}}));
  EXPECT_EQ(found.provider, "CPUExecutionProvider");
  EXPECT_EQ(found.backend, "cpu");
  EXPECT_EQ(found.requested_backend, "migraphx");
  EXPECT_EQ(found.requested_provider, "MIGraphXExecutionProvider");
  const Json runtime = described(Json::object({{"provider", "MIGraphXExecutionProvider"}}), found);
  EXPECT_EQ(runtime["provider"].text(), "CPUExecutionProvider");
  EXPECT_EQ(runtime["requested_provider"].text(), "MIGraphXExecutionProvider");
}

TEST(Placement, NodesOnTheRequestedProviderKeepIt) {
  const Placement found = place(Json::object({{"CPUExecutionProvider", 3}, {"MIGraphXExecutionProvider", 1}}));
  EXPECT_EQ(found.provider, "MIGraphXExecutionProvider");
  EXPECT_TRUE(found.requested_provider.empty());
  EXPECT_FALSE(described(Json::object({{"provider", "MIGraphXExecutionProvider"}}), found).contains("requested_provider"));
}

TEST(Placement, OfSeveralOthersAllAreNamed) {
  EXPECT_EQ(place(Json::object({{"CPUExecutionProvider", 1}, {"ROCMExecutionProvider", 5}})).provider,
            "ROCMExecutionProvider+CPUExecutionProvider");
}

TEST(Placement, UnknownPlacementIsAsRequested) {
  EXPECT_EQ(place(Json()).provider, "MIGraphXExecutionProvider");
  EXPECT_EQ(place(Json::object({{"CPUExecutionProvider", 0}})).provider, "MIGraphXExecutionProvider");
}

}  // namespace
}  // namespace aaco::workflows
