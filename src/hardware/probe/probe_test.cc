#include "hardware/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hardware/probe/operations.h"
#include "hardware/registry.h"
#include "tests/support/source_dir.h"

namespace aaco::hardware {
namespace {

Inventory machine() {
  Inventory inventory;
  inventory.cpu.vendor = "GenuineIntel";
  inventory.cpu.model = "Intel(R) Xeon(R) Gold 9999 CPU @ 2.70GHz";
  inventory.cpu.logical_cpus = 8;
  inventory.cpu.physical_cores = 4;
  inventory.cpu.sockets = 1;
  inventory.cpu.numa_nodes = 1;
  inventory.cpu.caches = {{1, "Data", 32 << 10, "0,4"}, {1, "Instruction", 32 << 10, "0,4"}, {3, "Unified", 8 << 20, "0-7"}};
  inventory.memory.total_bytes = std::int64_t{15} << 30;
  return inventory;
}

ProbeMeasurements readings() {
  ProbeMeasurements probe;
  probe.threads = 8;
  probe.clock_hz = 2e9;
  probe.vector_unit = "AVX2";
  probe.simd_bits = 256;
  probe.operations = {{"float32", 4 * 32 * 2e9, 0.01}, {"float64", 4 * 16 * 2e9, 0.01}};
  probe.copy = {"copy", 20e9, 0.1};
  probe.read = {"read", 25e9, 0.1};
  probe.caches = {{"l1", 500e9, 0.1}, {"l3", 19e9, 0.1}};
  return probe;
}

TEST(Probe, ProbedEntryIsValidInRegistry) {
  const Device device = device_of(machine(), readings(), "2026-01-01");
  EXPECT_EQ(device.id, "intel_xeon_gold_9999_4c_15gb");
  const auto read = parse_device(to_yaml(device), "probed.yaml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(check_invariants(*read).empty());
  EXPECT_EQ(read->engines[0].units->value, 4);
  EXPECT_EQ(read->engines[0].rate("float32")->ops_per_clock, 32);
  EXPECT_EQ(read->memory.bytes_per_s->others[0].value, 25e9);
  EXPECT_EQ(read->memory_levels.size(), 2U) << "instructions are not data";
  EXPECT_EQ(read->memory_levels[0].instances, 4);
  EXPECT_EQ(read->memory_levels[0].scope, Scope::unit);
  EXPECT_EQ(read->last_level()->name, "l3");
}

TEST(Probe, CacheNoFasterThanMemoryOmitsBandwidthWithReason) {
  const Device device = device_of(machine(), readings(), "2026-01-01");
  EXPECT_FALSE(device.memory_levels[1].bytes_per_s);
  EXPECT_THAT(device.notes, testing::Contains(testing::HasSubstr("l3")));
}

TEST(Probe, UnsteadyMeasurementIsReported) {
  ProbeMeasurements noisy = readings();
  noisy.operations[0].spread_ratio = 0.6;
  EXPECT_THAT(device_of(machine(), noisy, "2026-01-01").notes, testing::Contains(testing::HasSubstr("60 %")));
  EXPECT_THAT(device_of(machine(), readings(), "2026-01-01").notes,
              testing::Not(testing::Contains(testing::HasSubstr("differed"))));
}

TEST(Probe, ANarrowTypeThatReadSlowerTakesTheWiderFigure) {
  ProbeMeasurements busy = readings();
  busy.operations = {{"float32", 100e9, 0.5}, {"float64", 128e9, 0.1}, {"int8", 50e9, 0.1}};
  const Device device = device_of(machine(), busy, "2026-01-01");
  EXPECT_TRUE(check_invariants(device).empty());
  EXPECT_EQ(device.engines[0].rate("float32")->peak_ops_per_s->value, 128e9);
  EXPECT_EQ(device.engines[0].rate("int8")->peak_ops_per_s->value, 50e9);
  EXPECT_THAT(device.notes, testing::Contains(testing::HasSubstr("float32 read 100.0 Gop/s, slower than float64")));
}

TEST(Probe, UnknownMachineStillHasAnId) {
  const Device device = device_of({}, readings(), "2026-01-01");
  EXPECT_EQ(device.id, "unknown_1c_0gb");
  EXPECT_TRUE(parse_device(to_yaml(device), "x.yaml"));
}

TEST(Probe, MeasuresThisProcessor) {
  ProbeOptions options;
  options.memory_bytes = 8 << 20;
  options.time_ns = 2'000'000;
  const auto measured = measure_processor(options, machine());
  ASSERT_TRUE(measured) << measured.error().text();
  ASSERT_GE(measured->operations.size(), 2U);
  for (const ProbeReading& reading : measured->operations) EXPECT_GT(reading.per_second, 1e8) << reading.what;
  EXPECT_GT(measured->copy->per_second, 1e8);
  EXPECT_EQ(measured->caches.size(), 2U);
}

TEST(Probe, TheLoopsCountEveryLane) {
  const probe::VectorUnit unit = probe::widest_unit();
  for (const probe::OperationLoop& loop : unit.loops) {
    const int bits = dtype_bits(loop.dtype);
    EXPECT_EQ(loop.per_round % (2 * unit.bits / bits), 0) << loop.dtype;
  }
}

TEST(Yaml, RegistryEntryRoundTrips) {
  core::Paths paths;
  paths.share = AACO_SOURCE_DIR;
  paths.registry = "/nonexistent";
  const auto registry = DeviceRegistry::load(paths).value();
  for (const auto& [id, device] : registry.devices()) {
    auto again = parse_device(to_yaml(device), "again.yaml");
    ASSERT_TRUE(again) << id << ": " << again.error().text();
    core::Json before = to_json(device), after = to_json(*again);
    EXPECT_EQ(before["id"], after["id"]);
    EXPECT_EQ(before["sources"], after["sources"]) << id;
    EXPECT_EQ(before["notes"], after["notes"]) << id;
    EXPECT_EQ(before["execution"], after["execution"]) << id;
    EXPECT_EQ(before["memory_levels"].items().size(), after["memory_levels"].items().size()) << id;
    for (const Engine& engine : device.engines)
      for (const EngineRate& rate : engine.rates)
        EXPECT_NEAR(*again->peak_ops_per_s(rate.dtype), *device.peak_ops_per_s(rate.dtype),
                    1e-6 * *device.peak_ops_per_s(rate.dtype))
            << id << ' ' << rate.dtype;
    EXPECT_TRUE(check_invariants(*again).empty()) << id;
  }
}

}  // namespace
}  // namespace aaco::hardware
