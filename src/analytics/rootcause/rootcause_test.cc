#include "analytics/rootcause.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/sleep_causes.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::rootcause {
namespace {

const bottleneck::RuleBook& book() {
  static const bottleneck::RuleBook shipped = *bottleneck::RuleBook::load(AACO_SOURCE_DIR "/data/rules/bottleneck.yaml");
  return shipped;
}

// A call of 1000 ns on two CPUs, all of it computing.
Side calm() {
  Side side;
  side.call_ns = 1000;
  side.account.emplace();
  auto& call = *side.account;
  call.calls = 100;
  call.wall_ns = 1000;
  call.cpu_ns = 1000;
  call.wait_ns = call.blocked_ns = call.others_wait_ns = call.system_ns = call.throttled_ns = 0;
  call.process_cpu_ns = 2000;
  call.minor_faults = call.major_faults = call.storage_bytes = 0;
  return side;
}

double sum_of(const Decomposition& difference) {
  double sum = difference.unexplained_ns;
  for (const Part& part : difference.parts) sum += part.ns;
  return sum;
}

double part_of(const Decomposition& difference, std::string_view id) {
  for (const Part& part : difference.parts)
    if (part.id == id) return part.ns;
  return 0;
}

std::string first_cause(const Side& a, const Side& b, const std::vector<hardware::Difference>& differences = {}) {
  const auto causes = find_causes(a, b, *decompose(a, b), differences, book(), nullptr);
  return causes.empty() ? "" : causes.front().id;
}

TEST(Decompose, PartsAddUpToTheWhole) {
  Side b = calm();
  b.call_ns = 1700;
  b.account->wait_ns = 300;
  b.account->others_wait_ns = 150;
  b.account->blocked_ns = 100;
  b.account->cpu_ns = 1300;
  const auto difference = decompose(calm(), b);
  ASSERT_TRUE(difference);
  EXPECT_DOUBLE_EQ(difference->delta_ns, 700);
  EXPECT_NEAR(sum_of(*difference), 700, 1e-9);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), 300, 1e-9) << "the caller's own";
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 100, 1e-9);
  EXPECT_NEAR(part_of(*difference, "computing"), 300, 1e-9);
  EXPECT_NEAR(difference->unexplained_ns, 0, 1e-9);
  const core::Json document = to_json(*difference);
  EXPECT_EQ(document["account"]["candidate"]["others_wait_ns"].as_f64(), 150);
  EXPECT_EQ(document["account"]["candidate"]["caller_wait_ns"].as_f64(), 300);
}

TEST(Decompose, OtherThreadsWaitingIsNeverAPart) {
  Side b = calm();
  b.call_ns = 1700;
  b.account->others_wait_ns = 5000;
  b.account->blocked_ns = 700;
  const auto difference = decompose(calm(), b);
  EXPECT_EQ(part_of(*difference, "run_queue_wait"), 0);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 700, 1e-9);
  EXPECT_NE(difference->parts.front().evidence.find("cause not recorded; total CPU wait of other threads"), std::string::npos);
  EXPECT_EQ(first_cause(calm(), b), "cpu_placement") << "what the caller slept for waits for CPUs";
}

// Metrics of a watched run that slept so long for each cause, per iteration.
trace::Metrics slept(const std::map<scheduling::SleepCause, double>& ns) {
  trace::Metrics out;
  for (std::size_t i = 0; i < scheduling::kSleepCauses; ++i) {
    const auto cause = static_cast<scheduling::SleepCause>(i);
    out.push_back({scheduling::metric_of(cause), ns.contains(cause) ? ns.at(cause) : 0, "ns", {}, {}});
  }
  return out;
}

TEST(Decompose, WatchedSleepIsDividedByItsCause) {
  using scheduling::SleepCause;
  Side a = calm(), b = calm();
  a.metrics = slept({});
  b.call_ns = 1800, b.account->blocked_ns = 800;
  b.metrics =
      slept({{SleepCause::workers_waiting, 50}, {SleepCause::io, 25}, {SleepCause::unknown, 25}});  // of 100 that were watched
  const auto difference = decompose(a, b);
  EXPECT_NEAR(part_of(*difference, "host_waiting:workers_waiting"), 400, 1e-9);
  EXPECT_NEAR(part_of(*difference, "host_waiting:io"), 200, 1e-9);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 200, 1e-9);
  EXPECT_NEAR(sum_of(*difference), 800, 1e-9);
  EXPECT_EQ(first_cause(a, b), "cpu_placement") << "workers wait for CPUs";
  b.metrics = slept({{SleepCause::io, 100}});
  EXPECT_EQ(first_cause(a, b), "storage");
}

TEST(Decompose, SleepIsNotDividedWhereOneSideWasNotWatched) {
  Side b = calm();
  b.call_ns = 1800, b.account->blocked_ns = 800;
  b.metrics = slept({{scheduling::SleepCause::io, 100}});
  const auto difference = decompose(calm(), b);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 800, 1e-9);
  EXPECT_EQ(difference->parts.front().title, "caller asleep (cause not recorded)");
}

TEST(Decompose, StopsAreEvidenceForSleep) {
  Side a = calm(), b = calm();
  b.call_ns = 1700, b.account->blocked_ns = 700;
  a.account->stops = 0, b.account->stops = 0.5;
  const auto difference = decompose(a, b);
  EXPECT_NE(difference->parts.front().evidence.find("stopped and continued +0.5 times per call"), std::string::npos);
}

TEST(Decompose, PartsAreNotCutToTheDifference) {
  Side b = calm();
  b.call_ns = 1100;
  b.account->wait_ns = 5000;
  b.account->cpu_ns = 1050;
  const auto difference = decompose(calm(), b);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), 5000, 1e-9);
  EXPECT_NEAR(part_of(*difference, "computing"), 50, 1e-9);
  EXPECT_NEAR(difference->unexplained_ns, -4950, 1e-9) << "the counters contradict the clock, and that shows";
}

TEST(Decompose, PartsMayGoTheOtherWay) {
  Side a = calm(), b = calm();
  a.call_ns = 1300, a.account->blocked_ns = 300;
  b.call_ns = 1500, b.account->wait_ns = 500;
  const auto difference = decompose(a, b);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), 500, 1e-9);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), -300, 1e-9);
  EXPECT_EQ(difference->parts.front().id, "run_queue_wait");
}

TEST(Decompose, SymmetricForSpeedups) {
  Side a = calm();
  a.call_ns = 1400;
  a.account->wait_ns = 400;
  const auto difference = decompose(a, calm());
  EXPECT_DOUBLE_EQ(difference->delta_ns, -400);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), -400, 1e-9);
  EXPECT_NEAR(sum_of(*difference), -400, 1e-9);
}

TEST(Decompose, RemainderIsUnexplained) {
  Side b = calm();
  b.call_ns = 1500;
  const auto difference = decompose(calm(), b);
  EXPECT_TRUE(difference->parts.empty());
  EXPECT_DOUBLE_EQ(difference->unexplained_ns, 500);
}

TEST(Decompose, FaultsNeedFaultsAndSleepHasNoCauseFromCounters) {
  Side b = calm();
  b.call_ns = 1600;
  b.account->cpu_ns = 1300;
  b.account->system_ns = 300;
  b.account->blocked_ns = 300;
  auto difference = decompose(calm(), b);
  EXPECT_EQ(part_of(*difference, "page_faults"), 0);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 300, 1e-9);
  b.account->minor_faults = 40;
  b.account->storage_bytes = 4096;
  difference = decompose(calm(), b);
  EXPECT_NEAR(part_of(*difference, "page_faults"), 300, 1e-9);
  EXPECT_NEAR(part_of(*difference, "host_waiting"), 300, 1e-9);
  EXPECT_EQ(part_of(*difference, "storage"), 0);
  EXPECT_NEAR(part_of(*difference, "computing"), 0, 1e-9);
}

TEST(Decompose, KernelTimeOfAllThreadsIsNotAllTheCallers) {
  Side b = calm();
  b.call_ns = 1200;
  b.account->cpu_ns = 1200, b.account->process_cpu_ns = 2400;
  b.account->system_ns = 300, b.account->minor_faults = 40;
  const auto difference = decompose(calm(), b);
  EXPECT_NEAR(part_of(*difference, "page_faults"), 150, 1e-9) << "half of the process's CPU time is the caller's";
  EXPECT_NEAR(part_of(*difference, "computing"), 50, 1e-9);
}

TEST(Decompose, CountsConcurrentThrottlingOnce) {
  Side b = calm();
  b.call_ns = 2000;
  b.account->throttled_ns = 2000, b.account->wait_ns = 1000;
  EXPECT_NEAR(part_of(*decompose(calm(), b), "cpu_throttling"), 1000, 1e-9);
}

TEST(Decompose, NothingToDecomposeWithoutCalls) {
  EXPECT_FALSE(decompose(Side(), calm()));
  EXPECT_FALSE(decompose(calm(), Side()));
}

TEST(Decompose, AllUnexplainedWithoutKernelAccounting) {
  Side a, b;
  a.call_ns = 100, b.call_ns = 150;
  EXPECT_DOUBLE_EQ(decompose(a, b)->unexplained_ns, 50);
}

struct Profiled {
  trace::NameTable names;
  Side side = calm();
  Profiled(double convolution, double matmul, double between) {
    side.names = &names;
    side.nodes.parts.emplace();
    side.nodes.parts->in_nodes.mean_ns = convolution + matmul;
    side.nodes.parts->between_nodes.mean_ns = between;
    side.nodes.parts->whole.mean_ns = convolution + matmul + between;
    add("Conv", convolution);
    add("MatMul", matmul);
  }
  void add(std::string_view name, double ns) {
    metrics::NodeShare share;
    share.op_type = names.intern(name);
    share.time.mean_ns = ns;
    if (ns > 0) side.nodes.operators.push_back(share);
  }
};

TEST(Decompose, SplitsComputeTimeOverNodes) {
  const Profiled a(600, 300, 100);
  Profiled b(900, 300, 200);
  b.side.call_ns = b.side.account->cpu_ns.emplace(1400);
  const auto difference = decompose(a.side, b.side);
  EXPECT_TRUE(difference->profiled);
  EXPECT_NEAR(part_of(*difference, "node:Conv"), 300, 1e-9);
  EXPECT_NEAR(part_of(*difference, "launch"), 100, 1e-9);
  EXPECT_NEAR(difference->unexplained_ns, 0, 1e-9);
}

TEST(Decompose, ComputingBeyondTheProfileIsNamed) {
  const Profiled a(600, 300, 100);
  Profiled b(700, 300, 100);
  b.side.call_ns = b.side.account->cpu_ns.emplace(2000);
  const auto difference = decompose(a.side, b.side);
  EXPECT_NEAR(part_of(*difference, "node:Conv"), 130, 1e-9);
  EXPECT_NEAR(part_of(*difference, "computing"), 870, 1e-9);
  EXPECT_NEAR(difference->unexplained_ns, 0, 1e-9);
}

TEST(Decompose, CountsNewAndRemovedOperators) {
  const Profiled a(600, 0, 100);
  Profiled b(0, 900, 100);
  b.side.call_ns = b.side.account->cpu_ns.emplace(1300);
  const auto difference = decompose(a.side, b.side);
  EXPECT_NEAR(sum_of(*difference), 300, 1e-9);
  EXPECT_NEAR(part_of(*difference, "node:MatMul"), 900, 1e-9);
  EXPECT_NEAR(part_of(*difference, "node:Conv"), -600, 1e-9);
}

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

TEST(Causes, WaitsThatGrowWithTheComputingFollowFromIt) {
  Side a = calm(), b = calm();
  a.call_ns = 3000, a.account->wall_ns = 3000, a.account->wait_ns = 2000;
  b.call_ns = 6000, b.account->wall_ns = 6000, b.account->wait_ns = 4000, b.account->cpu_ns = 2000;
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

TEST(Causes, StopsAreNamed) {
  Side b = calm();
  b.call_ns = 1500;
  b.account->blocked_ns = 500;
  EXPECT_EQ(first_cause(calm(), b), "host_waiting");
  b.account->stops = 0.5;
  EXPECT_EQ(first_cause(calm(), b), "stopped");
  EXPECT_EQ(first_cause(b, calm()), "stopped");
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

TEST(Causes, HostIsNoCauseOfTimeInNodes) {
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
  EXPECT_TRUE(names_host(calm(), slower)) << "without a profiled pass it may be";
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

}  // namespace
}  // namespace aaco::analytics::rootcause
