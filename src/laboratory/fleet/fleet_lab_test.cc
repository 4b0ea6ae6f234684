#include <gtest/gtest.h>

#include <set>

#include "laboratory/fleet.h"

namespace aaco::laboratory::fleet {
namespace {

Request small(std::vector<std::string> faults) { return {20, 1, 2, 7, std::move(faults)}; }

bool is_refused(Request request, std::string_view word) {
  const auto plan = make_plan(request);
  return !plan && (plan.error().text().find(word) != std::string::npos);
}

TEST(FleetPlan, FaultsAreOnDifferentBusyNodes) {
  const auto plan = make_plan(small({"slow_gpu", "slow_host:0.2"}));
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_EQ(plan->faults.size(), 4U);
  std::set<std::int32_t> nodes;
  for (const Fault& fault : plan->faults) {
    nodes.insert(fault.node);
    EXPECT_GE(plan->nodes[static_cast<std::size_t>(fault.node)].job, 0);
    EXPECT_LT(fault.since_minute, fault.until_minute);
  }
  EXPECT_EQ(nodes.size(), 4U);
  EXPECT_EQ(plan->faults.back().device, -1);
}

TEST(FleetPlan, UnknownFaultIsRefused) { EXPECT_TRUE(is_refused(small({"gremlins"}), "gremlins")); }
TEST(FleetPlan, StrengthMustBePositive) { EXPECT_TRUE(is_refused(small({"slow_gpu:0"}), "strength")); }
TEST(FleetPlan, TooManyFaultsAreRefused) { EXPECT_TRUE(is_refused(small({"all"}), "--nodes")); }
TEST(FleetPlan, NoDaysIsRefused) { EXPECT_TRUE(is_refused({20, 0, 2, 7, {}}, "--days")); }
TEST(FleetPlan, OneNodeIsRefused) { EXPECT_TRUE(is_refused({1, 1, 2, 7, {}}, "--nodes")); }

TEST(FleetSimulation, SameSeedSameRowsAndAboutOnePercentMissing) {
  const auto rows_of = [](std::uint64_t seed) {
    Request request{4, 1, 2, seed, {}};
    double sum = 0;
    std::int64_t rows = 0;
    EXPECT_TRUE(simulate(*make_plan(request), [&](const trace::FleetMinute& row) -> core::Status {
      ++rows;
      sum += row.values[trace::fleet_column("clock_hz")].value_or(0);
      return {};
    }));
    return std::pair(rows, sum);
  };
  const auto first = rows_of(3);
  EXPECT_EQ(first, rows_of(3));
  EXPECT_NE(first, rows_of(4));
  EXPECT_GT(first.first, 4 * 1440 * 5 * 0.9);
  EXPECT_LT(first.first, 4 * 1440 * 7);
}

TEST(FleetSimulation, ErrorOfTheSinkEndsIt) {
  const auto status = simulate(*make_plan({4, 1, 2, 1, {}}), [](const trace::FleetMinute&) -> core::Status {
    return core::fail(core::ErrorCode::exhausted, "disk full");
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::exhausted);
}

core::Json truth_with(std::string_view kind, double strength) {
  return core::Json::object({{"node_days", 100.0},
                             {"faults", core::Json::array({core::Json::object({{"fault", kind},
                                                                               {"strength", strength},
                                                                               {"node", "n1"},
                                                                               {"device", 2},
                                                                               {"job", "train"},
                                                                               {"since_unix_ns", 100},
                                                                               {"until_unix_ns", 200}})})}});
}

analytics::fleet::Finding finding(std::string kind, std::string node, std::int32_t device, std::int64_t since,
                                  std::int64_t until) {
  analytics::fleet::Finding out;
  out.kind = std::move(kind);
  out.node = std::move(node);
  out.device = device;
  out.since_unix_ns = since;
  out.until_unix_ns = until;
  return out;
}

TEST(FleetJudge, FindingOfTheRightDeviceAndTimeCounts) {
  const auto score = judge(truth_with("slow_gpu", 0.1), std::vector{finding("slow_gpu", "n1", 2, 120, 180)}, {});
  ASSERT_TRUE(score);
  EXPECT_EQ(score->strong.named, 1);
  EXPECT_EQ(score->false_alarms, 0);
}

TEST(FleetJudge, OtherKindIsFoundButNotNamed) {
  const auto score = judge(truth_with("slow_gpu", 0.1), std::vector{finding("thermal", "n1", 2, 120, 180)}, {});
  EXPECT_EQ(score->strong.found, 1);
  EXPECT_EQ(score->strong.named, 0);
}

TEST(FleetJudge, OtherDeviceOrTimeIsAFalseAlarm) {
  const auto score = judge(truth_with("slow_gpu", 0.1),
                           std::vector{finding("slow_gpu", "n1", 3, 120, 180), finding("slow_gpu", "n1", 2, 300, 400)}, {});
  EXPECT_EQ(score->strong.found, 0);
  EXPECT_EQ(score->false_alarms, 2);
}

TEST(FleetJudge, NamedVictimIsWrong) {
  analytics::fleet::JobStraggler straggler;
  straggler.job = "train";
  straggler.state = analytics::fleet::StragglerState::found;
  straggler.node = "n1";
  straggler.devices = {0};
  const auto score = judge(truth_with("slow_gpu", 0.1), {}, std::vector{straggler});
  EXPECT_EQ(score->stragglers.count, 1);
  EXPECT_EQ(score->stragglers.found, 0);
}

TEST(FleetJudge, DocumentWithoutFaultsIsRefused) { EXPECT_FALSE(judge(core::Json::object(), {}, {})); }
TEST(FleetJudge, FaultWithoutNodeIsRefused) {
  EXPECT_FALSE(judge(*core::Json::parse(R"({"node_days": 1, "faults": [{"fault": "thermal"}]})"), {}, {}));
}

}  // namespace
}  // namespace aaco::laboratory::fleet
