#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analytics/rootcause.h"
#include "analytics/rootcause/sides_testing.h"
#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::rootcause {
namespace {

TEST(Causes, AttributesWaitsToTheCpuOwner) {
  Side b = calm();
  b.call_ns = 1500;
  b.account->wait_ns = 500;
  b.signals.set("others.cpu_use_cores", 0.9);
  EXPECT_EQ(first_cause(calm(), b), "cpu_contention");
  b.signals.set("others.wait_ratio", 0.05);
  EXPECT_EQ(first_cause(calm(), b), "cpu_placement") << "the run's own threads wait for each other";
  b.signals.set("others.wait_ratio", 0.9);
  EXPECT_EQ(first_cause(calm(), b), "cpu_contention");
  b.signals.set("others.cpu_use_cores", 0.01);
  EXPECT_EQ(first_cause(calm(), b), "cpu_placement");
}

TEST(Causes, OnlyNeighboursThatComputeMoreContendForMemory) {
  Side a = calm(), b = calm();
  b.call_ns = 1500;
  b.account->cpu_ns = 1500;
  for (Side* side : {&a, &b}) side->signals.set("others.cpu_use_cores", 2), side->signals.set("process.cpu_use_cores", 1);
  EXPECT_EQ(first_cause(a, b), "slower_execution") << "the others are as busy in both";
  EXPECT_EQ(find_causes(a, b, *decompose(a, b), {}, book(), nullptr).front().title,
            "the same work takes longer, cause not recorded");
  b.signals.set("others.cpu_use_cores", 3);
  EXPECT_EQ(first_cause(a, b), "memory_contention");
  b.signals.set("others.cpu_use_cores", 2), b.signals.set("process.cpu_use_cores", 2);
  EXPECT_EQ(first_cause(a, b), "memory_contention") << "a thread of the run may contend too";
}

TEST(Causes, NeighboursOnCpusThatTheRunMayNotUseContendForMemoryNotForCpus) {
  Side a = calm(), b = calm();
  b.call_ns = 2000, b.account->wall_ns = 2000, b.account->cpu_ns = 2000, b.account->process_cpu_ns = 3000;
  for (Side* side : {&a, &b}) {
    side->signals.set("others.cpu_use_cores", 0.01), side->signals.set("process.cpu_use_cores", 1);
    side->account->elsewhere_cpu_ns = 0;
  }
  EXPECT_EQ(first_cause(a, b), "slower_execution");
  b.account->elsewhere_cpu_ns = 2000;
  EXPECT_EQ(first_cause(a, b), "memory_contention");
  b.account->cpu_ns = 1000, b.account->wait_ns = 1000;
  EXPECT_NE(first_cause(a, b), "cpu_contention") << "nobody else used the CPU";
}

TEST(Causes, ASettingAndAWaitThatBothExplainMuchAreBothNamed) {
  Side a = calm(), b = calm();
  b.call_ns = b.account->wall_ns = 6000, b.account->cpu_ns = 2000, b.account->wait_ns = 4000, b.account->process_cpu_ns = 2000;
  a.account->process_cpu_ns = 1000;
  for (Side* side : {&a, &b}) side->signals.set("others.cpu_use_cores", 2), side->signals.set("process.cpu_use_cores", 0.5);
  const std::vector<hardware::Difference> graph = {{"graph_level", "all", "disabled", hardware::Severity::changed, "level"}};
  const auto causes = find_causes(a, b, *decompose(a, b), graph, book(), nullptr);
  ASSERT_GE(causes.size(), 2U);
  EXPECT_EQ(causes[0].id, "cpu_contention");
  EXPECT_EQ(causes[1].id, "graph_optimisation");
  EXPECT_NEAR(causes[1].probability, 0.97 * std::log(2) / std::log(6), 0.01) << "twice the computing of six times the time";
  b.account->cpu_ns = 1000, b.account->wait_ns = 5000;
  const auto without = find_causes(a, b, *decompose(a, b), graph, book(), nullptr);
  EXPECT_EQ(without.front().id, "cpu_contention");
  EXPECT_GT(without.front().probability, 0.9) << "no more computing";
}

TEST(Causes, AnotherTypeOfTheModelIsOneChange) {
  Side a = calm(), b = calm();
  b.call_ns = b.account->wall_ns = 3000, b.account->cpu_ns = 3000;
  const std::vector<hardware::Difference> types = {
      {"input_shapes", "x float32[64,512]", "x float64[64,512]", hardware::Severity::changed, "types"},
      {"model.hash", "a", "b", hardware::Severity::changed, "different model"}};
  const auto causes = find_causes(a, b, *decompose(a, b), types, book(), nullptr);
  EXPECT_EQ(causes.front().id, "data_type");
  EXPECT_TRUE(
      std::none_of(causes.begin(), causes.end(), [](const Cause& one) { return one.id == "model" || one.id == "shapes"; }));
}

TEST(Causes, WaitsThatGrowWithTheComputingFollowFromIt) {
  Side a = calm(), b = calm();
  a.call_ns = 3000, a.account->wall_ns = 3000, a.account->wait_ns = 2000;
  b.call_ns = 6000, b.account->wall_ns = 6000, b.account->wait_ns = 4000, b.account->cpu_ns = 2000;
  b.account->process_cpu_ns = 3000;
  for (Side* side : {&a, &b}) side->signals.set("others.cpu_use_cores", 4), side->signals.set("process.cpu_use_cores", 0.3);
  EXPECT_EQ(first_cause(a, b), "slower_execution");
  EXPECT_EQ(first_cause(b, a), "slower_execution") << "of the slower side, whichever it is";
  b.call_ns = 9000, b.account->wait_ns = 7000;
  EXPECT_EQ(first_cause(a, b), "cpu_contention") << "more than the computing explains";
  b.call_ns = 5000, b.account->wait_ns = 4000, b.account->cpu_ns = 1000;
  EXPECT_EQ(first_cause(a, b), "cpu_contention") << "no more computing";
}

TEST(Causes, ACauseIsListedOnce) {
  Side b = calm();
  b.call_ns = 1500;
  b.account->wait_ns = 500;
  const auto causes = find_causes(calm(), b, *decompose(calm(), b),
                                  {{"cpu.allowed_cores", "2", "1", hardware::Severity::soft, ""}}, book(), nullptr);
  EXPECT_EQ(std::count_if(causes.begin(), causes.end(), [](const Cause& cause) { return cause.id == "cpu_placement"; }), 1);
}

TEST(Causes, ConfigurationDifferencesComeFirst) {
  Side b = calm();
  b.call_ns = 1500;
  b.account->cpu_ns = 1500;
  EXPECT_EQ(first_cause(calm(), b, {{"threads.intra", "2", "1", hardware::Severity::hard, ""}}), "threads");
  EXPECT_EQ(first_cause(calm(), b,
                        {{"dtype", "float32", "float16", hardware::Severity::hard, ""},
                         {"model.hash", "a", "b", hardware::Severity::hard, ""}}),
            "data_type");
  EXPECT_EQ(first_cause(calm(), b, {{"model.hash", "a", "b", hardware::Severity::hard, ""}}), "model");
  // A fact that one side does not know may have been equal.
  EXPECT_EQ(first_cause(calm(), b, {{"threads.intra", "2", "", hardware::Severity::soft, ""}}), "slower_execution");
}

TEST(Causes, AModelExplainsNoWaitForACpu) {
  const hardware::Difference model{"model.hash", "a", "b", hardware::Severity::hard, ""};
  Side b = calm();
  b.call_ns = 2000;
  b.account->cpu_ns = 1100;
  b.account->wait_ns = 900;
  b.account->process_cpu_ns = 1100;
  b.signals.set("others.cpu_use_cores", 0.9);
  const auto causes = find_causes(calm(), b, *decompose(calm(), b), {model}, book(), nullptr);
  EXPECT_EQ(causes.front().id, "cpu_contention");
  EXPECT_GT(causes.front().probability, 0.9);
  EXPECT_EQ(causes.at(1).id, "model");
  EXPECT_EQ(first_cause(calm(), b, {{"threads.intra", "1", "2", hardware::Severity::hard, ""}}), "threads") << "they may wait";
}

TEST(Causes, AFasterRunLacksWhatTheSlowerOneHad) {
  Side slow = calm();
  slow.call_ns = 1500;
  slow.account->wait_ns = 500;
  slow.signals.set("others.cpu_use_cores", 0.9), slow.signals.set("others.wait_ratio", 0.9);
  const auto causes = find_causes(slow, calm(), *decompose(slow, calm()), {}, book(), nullptr);
  EXPECT_EQ(causes.front().id, first_cause(calm(), slow));
  EXPECT_EQ(causes.front().title, "CPU contention with other processes, on side A only");
  Side asleep = calm();
  asleep.call_ns = 1500;
  asleep.account->blocked_ns = 500;
  EXPECT_EQ(first_cause(asleep, calm()), first_cause(calm(), asleep));
  Side computing = calm();
  computing.call_ns = 1500;
  computing.account->cpu_ns = 1500;
  EXPECT_EQ(find_causes(computing, calm(), *decompose(computing, calm()), {}, book(), nullptr).front().title,
            "the same work takes less time, cause not recorded");
}

TEST(Causes, ThreadsThatDidNotRunShareNoCpu) {
  Side a = calm(), b = calm();
  a.account->process_cpu_ns = b.account->process_cpu_ns = 1010;  // one thread
  b.call_ns = 1500;
  b.account->wait_ns = 500;
  EXPECT_EQ(first_cause(a, b), "cpu_contention");
  b.account->process_cpu_ns = 1500;
  EXPECT_EQ(first_cause(a, b), "cpu_placement") << "another thread of the run had the CPU";
}

TEST(Causes, FaultsOfAnotherThreadAreNotTheCallers) {
  Side a = calm(), b = calm();
  b.call_ns = b.account->wall_ns = 2000;
  b.account->wait_ns = 980, b.account->cpu_ns = 1020;
  b.account->minor_faults = 8000, b.account->system_ns = 900, b.account->process_cpu_ns = 3000;
  const auto difference = *decompose(a, b);
  for (const Part& part : difference.parts) {
    EXPECT_GE(part.ns, 0) << part.id << ": nothing is taken back";
    EXPECT_TRUE(part.id != "page_faults" || part.ns <= 20) << part.ns;
  }
  EXPECT_EQ(first_cause(a, b), "cpu_placement");
}

TEST(Causes, TheSameWorkOnFewerThreadsIsNamed) {
  Side a = calm(), b = calm();
  a.account->process_cpu_ns = 1800;
  b.call_ns = b.account->wall_ns = b.account->cpu_ns.emplace(1500);
  b.account->process_cpu_ns = 1850;
  EXPECT_EQ(first_cause(a, b), "fewer_threads");
  EXPECT_EQ(first_cause(b, a), "fewer_threads") << "on side A only";
  b.account->process_cpu_ns = 2600;
  EXPECT_EQ(first_cause(a, b), "slower_execution") << "more work per call";
}

TEST(Causes, SleepBesideStopsIsNotCalledUnrecorded) {
  Side a = calm(), b = calm();
  a.account->stops = 0, b.account->stops = 1;
  b.call_ns = b.account->wall_ns = 2000, b.account->blocked_ns = 1000;
  EXPECT_THAT(decompose(a, b)->parts.front().title, testing::HasSubstr("stopped"));
}

TEST(Causes, OfTwoSettingsTheOneWithTheLargerPartIsFirst) {
  const std::vector<hardware::Difference> both = {{"graph_level", "all", "basic", hardware::Severity::changed, ""},
                                                  {"cpu.limit_cores", "none", "0.6", hardware::Severity::changed, ""}};
  Side a = calm(), b = calm();
  b.call_ns = b.account->wall_ns = 2000;
  b.account->wait_ns = 750, b.account->throttled_ns = 750, b.account->cpu_ns = 1250, b.account->process_cpu_ns = 2250;
  const auto causes = find_causes(a, b, *decompose(a, b), both, book(), nullptr);
  EXPECT_EQ(causes.front().id, "cpu_throttling");
  EXPECT_GT(causes.front().probability, 0.8);
  b.account->wait_ns = b.account->throttled_ns = 100, b.account->cpu_ns = 1900, b.account->process_cpu_ns = 2900;
  EXPECT_EQ(first_cause(a, b, both), "graph_optimisation");
}

TEST(Causes, AnotherBuildOfTheRuntimeIsNamedOnceWithItsVersion) {
  const hardware::Difference build{"runtime.hash", "c79c91c046650b3d", "8a7df47891ce3099", hardware::Severity::soft, ""};
  const hardware::Difference version{"runtime.version", "1.29.0", "1.30.0", hardware::Severity::soft, ""};
  Side b = calm();
  b.call_ns = b.account->wall_ns = 1500, b.account->cpu_ns = 1500, b.account->process_cpu_ns = 2500;
  EXPECT_EQ(first_cause(calm(), b, {build}), "runtime_version");
  const auto causes = find_causes(calm(), b, *decompose(calm(), b), {version, build}, book(), nullptr);
  EXPECT_EQ(causes.front().title, "different runtime version");
  EXPECT_GT(causes.front().probability, 0.9);
}

TEST(Causes, ATracerOfTheSlowerSideComesFirst) {
  const hardware::Difference on_b{"process.tracer", "none", "strace", hardware::Severity::soft, ""};
  const hardware::Difference on_a{"process.tracer", "strace", "none", hardware::Severity::soft, ""};
  Side b = calm();
  b.call_ns = b.account->wall_ns = 2000, b.account->cpu_ns = 1300, b.account->blocked_ns = 700;
  EXPECT_EQ(first_cause(calm(), b, {on_b}), "traced");
  EXPECT_NE(first_cause(calm(), b, {on_a}), "traced") << "it would have made A slower";
  EXPECT_EQ(first_cause(b, calm(), {on_a}), "traced") << "B is faster without it";
}

TEST(Causes, PriorityMattersToThreadsThatWait) {
  const hardware::Difference nice{"process.nice", "0", "19", hardware::Severity::soft, ""};
  Side b = calm();
  b.call_ns = b.account->cpu_ns.emplace(1500);
  EXPECT_NE(first_cause(calm(), b, {nice}), "priority");
  EXPECT_EQ(first_cause(calm(), b, {{"environment.preload", "none", "slow.so", hardware::Severity::soft, ""}}), "preload");
  b.account->cpu_ns = 1000, b.account->wait_ns = 500;
  EXPECT_EQ(first_cause(calm(), b, {nice}), "priority");
}

TEST(Causes, TheWeightOfTheCgroupIsAPriority) {
  const hardware::Difference weight{"cpu.weight", "default", "shares 256", hardware::Severity::soft, ""};
  Side b = calm();
  b.call_ns = 1500;
  b.account->wait_ns = 500;
  EXPECT_EQ(first_cause(calm(), b, {weight}), "priority");
  b.account->wait_ns = 0;
  b.account->cpu_ns = 1500;
  EXPECT_NE(first_cause(calm(), b, {weight}), "priority") << "no thread waits";
}

TEST(Causes, OtherInputDataAreACause) {
  Side b = calm();
  b.call_ns = b.account->cpu_ns.emplace(1500);
  EXPECT_EQ(first_cause(calm(), b, {{"inputs.hash", "x=12", "x=34", hardware::Severity::changed, ""}}), "input_data");
  EXPECT_NE(first_cause(calm(), b, {{"inputs.hash", "", "x=34", hardware::Severity::soft, ""}}), "input_data");
}

TEST(Causes, StopsAreNamed) {
  Side b = calm();
  b.call_ns = 1500;
  b.account->blocked_ns = 500;
  EXPECT_EQ(first_cause(calm(), b), "host_waiting");
  b.account->stops = 0.5;
  EXPECT_EQ(first_cause(calm(), b), "stopped");
  EXPECT_EQ(first_cause(b, calm()), "stopped");
}

TEST(Causes, FreezesAreNamed) {
  Side b = calm();
  b.call_ns = 1500;
  b.account->blocked_ns = 500;
  b.account->freezes = 0.1;
  EXPECT_EQ(first_cause(calm(), b), "frozen");
  EXPECT_EQ(first_cause(b, calm()), "frozen");
  EXPECT_THAT(decompose(calm(), b)->parts.front().title, testing::HasSubstr("frozen"));
  Side a = calm();
  a.account->freezes = 0.1;
  EXPECT_EQ(first_cause(a, b), "host_waiting") << "as often on the other side";
}

TEST(Causes, TheLargerOfStopsAndFreezesIsFirst) {
  Side b = calm();
  b.call_ns = 1500;
  b.account->blocked_ns = 500;
  b.account->freezes = 0.1, b.account->stops = 0.02;
  EXPECT_EQ(first_cause(calm(), b), "frozen");
  b.account->stops = 0.5;
  EXPECT_EQ(first_cause(calm(), b), "stopped");
}

TEST(Causes, FewerCpusMatterOnlyToWaitingThreads) {
  const hardware::Difference fewer{"cpu.allowed_cores", "2", "1", hardware::Severity::soft, ""};
  Side b = calm();
  b.call_ns = 1500;
  b.account->wait_ns = 500;
  b.signals.set("others.cpu_use_cores", 0.9);  // on the CPU that is not allowed
  EXPECT_EQ(first_cause(calm(), b, {fewer}), "cpu_placement");
  b.account->wait_ns = calm().account->wait_ns;
  b.account->blocked_ns = 550;
  EXPECT_NE(first_cause(calm(), b, {fewer}), "cpu_placement");
}

TEST(Causes, FewerCpusThatAreAllInUseAreTheCause) {
  const hardware::Difference fewer{"cpu.allowed_cores", "4", "1", hardware::Severity::soft, ""};
  Side a = calm(), b = calm();
  b.call_ns = 3000;
  b.account->cpu_ns = 3000;
  a.signals.set("process.cpu_use_cores", 3.6), b.signals.set("process.cpu_use_cores", 1);
  EXPECT_EQ(first_cause(a, b, {fewer}), "cpu_placement") << "one thread where there were four, and none waits";
  EXPECT_EQ(first_cause(b, a, {{"cpu.allowed_cores", "1", "4", hardware::Severity::soft, ""}}), "cpu_placement");
  a.signals.set("process.cpu_use_cores", 1);
  EXPECT_NE(first_cause(a, b, {fewer}), "cpu_placement") << "one thread on either side";
}

TEST(Causes, TimeInNodesRulesOutTheHost) {
  const auto document = core::read_json_file(AACO_SOURCE_DIR "/data/bottleneck/causes.json");
  ASSERT_TRUE(document);
  const auto model = bottleneck::model_from_json(*document, feature_names(book()));
  ASSERT_TRUE(model) << model.error().text();
  const auto names_host = [&](const Side& a, const Side& b) {
    const auto causes = find_causes(a, b, *decompose(a, b), {}, book(), &*model);
    return std::any_of(causes.begin(), causes.end(), [](const Cause& cause) { return cause.id == "host_computing"; });
  };
  const Profiled a(600, 300, 100);
  Profiled nodes(900, 300, 100);
  nodes.side.call_ns = nodes.side.account->cpu_ns.emplace(1300);
  EXPECT_FALSE(names_host(a.side, nodes.side));
  Side slower = calm();
  slower.call_ns = slower.account->cpu_ns.emplace(1300);
  EXPECT_FALSE(names_host(calm(), slower)) << "only a profiled pass tells it from the model's own work";
}

TEST(Causes, MoreSmallerNodesAreLaunchOverhead) {
  Side a = calm(), b = calm();
  b.call_ns = 1500;
  a.signals.set("node.execution_count", 40), a.signals.set("node.mean_ns", 9000);
  b.signals.set("node.execution_count", 1040), b.signals.set("node.mean_ns", 900);
  EXPECT_EQ(first_cause(a, b, {{"model.hash", "a", "b", hardware::Severity::hard, ""}}), "launch_overhead");
}

TEST(Causes, NoCauseWithoutChange) {
  EXPECT_TRUE(find_causes(calm(), calm(), *decompose(calm(), calm()), {}, book(), nullptr).empty());
}

TEST(Causes, ProbabilitiesAddUp) {
  Side b = calm();
  b.call_ns = 1500;
  b.account->wait_ns = 200;
  b.account->blocked_ns = 200;
  double sum = 0;
  for (const Cause& cause : find_causes(calm(), b, *decompose(calm(), b), {}, book(), nullptr)) sum += cause.probability;
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Causes, ShippedModelIsCompleteWithProvenance) {
  const auto document = core::read_json_file(AACO_SOURCE_DIR "/data/bottleneck/causes.json");
  ASSERT_TRUE(document);
  const auto model = bottleneck::model_from_json(*document, feature_names(book()));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_GT(model->record["scores"]["held_out_by_model"]["accuracy_ratio"].as_f64().value_or(0), 0.9);
}

TEST(FeatureTable, NamesMatchValues) {
  Side b = calm();
  b.call_ns = 1500;
  const auto features = features_of(calm(), b, *decompose(calm(), b), book());
  EXPECT_EQ(features.names.size(), features.values.size());
  EXPECT_EQ(features.names.back(), "delta_ratio");
  EXPECT_FLOAT_EQ(features.values.back(), 0.5F);
}

TEST(Causes, APreloadedLibraryDoesNotExplainWaitingForOtherProcesses) {
  const std::vector<hardware::Difference> preload = {
      {"environment.preload", "none", "libslow.so", hardware::Severity::changed, ""}};
  Side b = calm();
  b.call_ns = b.account->wall_ns = 2000;
  b.account->cpu_ns = b.account->process_cpu_ns = 1540;
  b.account->wait_ns = 460;
  b.signals.set("others.cpu_use_cores", 0.4);
  b.signals.set("others.wait_ratio", 0.5);
  Side a = calm();
  a.account->process_cpu_ns = 1000;
  const auto causes = find_causes(a, b, *decompose(a, b), preload, book(), nullptr);
  ASSERT_GE(causes.size(), 2U);
  EXPECT_EQ(causes[0].id, "preload");
  EXPECT_EQ(causes[1].id, "cpu_contention");
  EXPECT_GT(causes[1].probability, 0.2);
  b.account->process_cpu_ns = 3200;  // threads of the library itself
  EXPECT_GT(find_causes(a, b, *decompose(a, b), preload, book(), nullptr)[0].probability, 0.9);
}

}  // namespace
}  // namespace aaco::analytics::rootcause
