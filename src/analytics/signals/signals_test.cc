#include "analytics/signals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace aaco::analytics::signals {
namespace {

struct Blocks {
  trace::NameTable names;
  std::vector<trace::LoopBlockRow> rows;
  // A block of ten calls of 1000 ns: 700 running, 200 waiting, 100 asleep.
  trace::LoopBlockRow& add(std::string_view phase = "measure") {
    trace::LoopBlockRow row;
    row.phase = names.intern(phase);
    row.start_ns = static_cast<std::int64_t>(rows.size()) * 20'000;
    row.end_ns = row.start_ns + 10'000;
    row.call_count = 10;
    row.caller_cpu_ns = 7'000;
    row.caller_wait_ns = 2'000;
    row.process_wait_ns = 5'000;
    row.process_cpu_ns = 12'000;
    row.machine_busy_ns = 20'000;
    row.minor_faults = 30;
    rows.push_back(row);
    return rows.back();
  }
};

TEST(Account, CallerTimeAddsUp) {
  Blocks blocks;
  blocks.add();
  blocks.add();
  const auto account = account_of(blocks.rows, blocks.names);
  ASSERT_TRUE(account);
  EXPECT_EQ(account->calls, 20);
  EXPECT_DOUBLE_EQ(account->wall_ns, 1000);
  EXPECT_DOUBLE_EQ(*account->cpu_ns + *account->wait_ns + *account->blocked_ns, account->wall_ns);
  EXPECT_DOUBLE_EQ(*account->others_wait_ns, 300);
  EXPECT_DOUBLE_EQ(*account->others_cpu_ns, 800);
  EXPECT_DOUBLE_EQ(*account->minor_faults, 3);
  EXPECT_FALSE(account->throttled_ns);
}

TEST(Account, CountsOnlyBlocksWithoutTelemetry) {
  Blocks blocks;
  blocks.add("measure_telemetry").minor_faults = 1000;
  EXPECT_FALSE(account_of(blocks.rows, blocks.names));
  blocks.add();
  EXPECT_DOUBLE_EQ(*account_of(blocks.rows, blocks.names)->minor_faults, 3);
}

TEST(Account, MissingBlockCountersStayUnknown) {
  Blocks blocks;
  blocks.add();
  blocks.add().minor_faults.reset();
  EXPECT_FALSE(account_of(blocks.rows, blocks.names)->minor_faults);
}

TEST(Account, CountersBeyondTheWallAreUnexplainedAndNotCutOff) {
  Blocks blocks;
  blocks.add().caller_cpu_ns = 50'000;
  const auto account = account_of(blocks.rows, blocks.names);
  EXPECT_DOUBLE_EQ(*account->cpu_ns, 5000);
  EXPECT_DOUBLE_EQ(*account->wait_ns, 200);
  EXPECT_DOUBLE_EQ(*account->blocked_ns, 0);
  EXPECT_DOUBLE_EQ(*account->unexplained_ns, -4200);
  EXPECT_DOUBLE_EQ(*account->cpu_ns + *account->wait_ns + *account->blocked_ns + *account->unexplained_ns, account->wall_ns);
}

TEST(Account, SkipsImpossibleBlocks) {
  Blocks blocks;
  blocks.add().call_count = 0;
  blocks.add().end_ns = -5;
  EXPECT_FALSE(account_of(blocks.rows, blocks.names));
}

TEST(SignalTable, EverySignalIsDefinedOnce) {
  std::set<std::string_view> ids;
  for (const auto& one : definitions()) EXPECT_TRUE(ids.insert(one.id).second) << one.id;
}

TEST(SignalTable, RatiosOfTheWall) {
  Blocks blocks;
  blocks.add();
  SignalInput input;
  input.blocks = blocks.rows;
  input.names = &blocks.names;
  input.cpus = 4;
  input.metrics = {{"latency.p50_ns", 1000, "ns", {}, {}}, {"latency.p90_ns", 1500, "ns", {}, {}}};
  input.flops = 2000;
  input.bytes = 500;
  const Signals signals = signals_of(input);
  EXPECT_DOUBLE_EQ(*signals.get("caller.cpu_ratio"), 0.7);
  EXPECT_DOUBLE_EQ(*signals.get("process.cpu_use_cores"), 1.2);
  EXPECT_DOUBLE_EQ(*signals.get("machine.idle_cores"), 2);
  EXPECT_DOUBLE_EQ(*signals.get("latency.tail_ratio"), 0.5);
  EXPECT_DOUBLE_EQ(*signals.get("work.intensity"), 4);
  EXPECT_DOUBLE_EQ(*signals.get("work.flops_per_second"), 2e9);
  EXPECT_FALSE(signals.get("node.mean_ns"));
}

TEST(SignalTable, OnlyTheCpuTimeOfOthersExplainsWaits) {
  Blocks blocks;
  trace::LoopBlockRow& row = blocks.add();  // ten calls of 1000 ns
  row.process_wait_ns = 20'000;
  row.process_cpu_ns = 39'000, row.machine_busy_ns = 40'000;
  SignalInput input;
  input.blocks = blocks.rows;
  input.names = &blocks.names;
  EXPECT_DOUBLE_EQ(*signals_of(input).get("others.wait_ratio"), 0.05);
  blocks.rows[0].machine_busy_ns = 80'000;
  EXPECT_DOUBLE_EQ(*signals_of(input).get("others.wait_ratio"), 1);
  blocks.rows[0].process_wait_ns = blocks.rows[0].caller_wait_ns = 0;
  EXPECT_FALSE(signals_of(input).get("others.wait_ratio")) << "nothing waits";
  blocks.rows[0].process_wait_ns = 1, blocks.rows[0].machine_busy_ns.reset();
  EXPECT_FALSE(signals_of(input).get("others.wait_ratio"));
}

TEST(SignalTable, OthersOnCpusThatTheRunMayNotUseAreNoCompetitors) {
  Blocks blocks;
  trace::LoopBlockRow& row = blocks.add();  // ten calls of 1000 ns
  row.process_cpu_ns = 10'000, row.allowed_busy_ns = 11'000, row.machine_busy_ns = 21'000, row.process_wait_ns = 10'000;
  SignalInput input;
  input.blocks = blocks.rows;
  input.names = &blocks.names;
  input.cpus = 4;
  const Signals signals = signals_of(input);
  EXPECT_DOUBLE_EQ(*signals.get("others.cpu_use_cores"), 0.1);
  EXPECT_DOUBLE_EQ(*signals.get("others.wait_ratio"), 0.1);
  EXPECT_DOUBLE_EQ(*signals.get("machine.idle_cores"), 1.9);
  EXPECT_DOUBLE_EQ(*account_of(blocks.rows, blocks.names)->elsewhere_cpu_ns, 1'000);
  blocks.rows[0].allowed_busy_ns.reset();
  EXPECT_DOUBLE_EQ(*signals_of(input).get("others.cpu_use_cores"), 1.1) << "of an older session: all CPUs";
  EXPECT_FALSE(account_of(blocks.rows, blocks.names)->elsewhere_cpu_ns);
}

TEST(SignalTable, AttributesWaits) {
  Blocks blocks;
  blocks.add().throttled_ns = 1'000;
  SignalInput input;
  input.blocks = blocks.rows;
  input.names = &blocks.names;
  input.allowed_cpus = 2;
  input.cpu_limit = 1.5;
  const Signals signals = signals_of(input);
  EXPECT_EQ(signals.get("process.allowed_cores"), 2);
  EXPECT_DOUBLE_EQ(*signals.get("process.allowed_use_ratio"), 0.6);
  EXPECT_DOUBLE_EQ(*signals.get("cgroup.limit_use_ratio"), 0.8);
  EXPECT_DOUBLE_EQ(*signals.get("process.wait_cores"), 0.5);
  EXPECT_DOUBLE_EQ(*signals.get("cgroup.throttled_wait_ratio"), 0.2);
  EXPECT_DOUBLE_EQ(*signals.get("faults.minor_per_call"), 3);
  input.allowed_cpus.reset();
  EXPECT_FALSE(signals_of(input).get("process.allowed_use_ratio"));
}

TEST(SignalTable, ProfilerOverheadIsNotTheCallers) {
  SignalInput input;
  input.metrics = {{"latency.p50_ns", 1000, "ns", {}, {}}, {"profile.slowdown_ratio", 1, "ratio", {}, {}}};
  EXPECT_FALSE(signals_of(input).get("host.around_ratio"));
  input.profiled_model_ns = 1600;
  EXPECT_DOUBLE_EQ(*signals_of(input).get("host.around_ratio"), 0.4);
  input.profiled_model_ns = 2500;
  EXPECT_DOUBLE_EQ(*signals_of(input).get("host.around_ratio"), 0);
}

TEST(SignalTable, GraphSignalsNeedNoProfile) {
  SignalInput input;
  input.metrics = {{"latency.p50_ns", 1000, "ns", {}, {}}, {"profile.slowdown_ratio", 1, "ratio", {}, {}}};
  input.profiled_model_ns = 1600;
  input.graph_nodes = 50;
  const Signals signals = without_profile(signals_of(input));
  EXPECT_EQ(signals.get("work.ns_per_node"), 20);
  EXPECT_EQ(signals.get("latency.p50_ns"), 1000);
  EXPECT_FALSE(signals.get("host.around_ratio"));
  EXPECT_FALSE(signals.get("profile.slowdown_ratio"));
  input.graph_nodes = 0;
  EXPECT_FALSE(signals_of(input).get("work.ns_per_node"));
}

TEST(SignalTable, HealthIsCounterGrowth) {
  trace::NameTable names;
  std::vector<trace::GpuEventRow> events;
  const auto add = [&](std::int64_t device, double value) {
    events.push_back({0, 0, device, names.intern("gpu.pcie_replays_count"), names.intern("amdgpu"), value});
  };
  add(0, 100), add(0, 103), add(1, 7), add(1, 7);
  SignalInput input;
  input.names = &names;
  input.gpu_events = events;
  input.metrics = {{"gpu.throttled_power_ratio", 0.1, "ratio", {}, 0}, {"gpu.throttled_power_ratio", 0.4, "ratio", {}, 1}};
  const Signals signals = signals_of(input);
  EXPECT_EQ(signals.get("gpu.pcie_replays_count"), 3);
  EXPECT_EQ(signals.get("gpu.throttled_power_ratio"), 0.4);
  EXPECT_FALSE(signals.get("gpu.ecc_uncorrectable_count"));
}

TEST(SignalTable, NoSignalsWithoutMeasurements) {
  for (const float feature : signals_of({}).features()) EXPECT_TRUE(std::isnan(feature));
}

TEST(SignalTable, DropsNonFiniteValues) {
  Signals signals;
  signals.set("latency.p50_ns", std::nan(""));
  signals.set("latency.p50_ns", INFINITY);
  EXPECT_EQ(signals, Signals());
}

}  // namespace
}  // namespace aaco::analytics::signals
