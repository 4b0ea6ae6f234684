#include "workflows/devices/gpu_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/registry.h"

namespace aaco::workflows {
namespace {

using testing::Contains;
using testing::HasSubstr;

laboratory::GpuFacts facts() {
  laboratory::GpuFacts facts;
  facts.name = "NVIDIA Turbo-9 24GB";
  facts.target = "sm_99";
  facts.memory_bytes = std::int64_t{24} << 30;
  facts.units = 100;
  facts.lanes = 32;
  facts.clock_hz = 2'000'000'000;
  facts.cache_bytes = 32 << 20;
  return facts;
}

GpuReadings readings() {
  GpuReadings readings;
  readings.products = {{"float16", 300e12}, {"float32", 40e12}};
  readings.lanes = {{"float32", 38e12}};
  readings.copy = 900e9;
  readings.read = 950e9;
  readings.cache = 3000e9;
  readings.from_host = 25e9;
  return readings;
}

TEST(GpuEntry, IsValidInTheRegistry) {
  const hardware::Device device = entry_of(facts(), readings(), "cuda driver 12.4", "2026-01-01");
  EXPECT_EQ(device.id, "nvidia_turbo_9_24gb_24gb");
  const auto read = hardware::parse_device(to_yaml(device), "probed.yaml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(check_invariants(*read).empty());
  EXPECT_EQ(read->peak_ops_per_s("float16"), 300e12);
  EXPECT_EQ(read->peak_ops_per_s("float32", hardware::EngineKind::vector), 38e12);
  EXPECT_EQ(read->memory.bytes_per_s->others[0].value, 950e9);
  EXPECT_EQ(read->last_level()->bytes_per_s->value, 3000e9);
  EXPECT_EQ(read->host_link->bytes_per_s.value, 25e9);
}

TEST(GpuEntry, WhatWasNotMeasuredIsLeftOutWithReason) {
  GpuReadings few;
  few.copy = 900e9;
  few.cache = 800e9;
  few.notes = {"products of float8 not measured: cuBLASLt has no algorithm"};
  const hardware::Device device = entry_of({}, few, "cuda driver", "2026-01-01");
  EXPECT_EQ(device.id, "unknown_gpu_0gb");
  EXPECT_TRUE(device.engines.empty());
  EXPECT_THAT(device.notes, Contains(HasSubstr("float8")));
  const hardware::Device slow = entry_of(facts(), few, "cuda driver", "2026-01-01");
  EXPECT_FALSE(slow.memory_levels[0].bytes_per_s);
  EXPECT_THAT(slow.notes, Contains(HasSubstr("no faster than memory")));
}

TEST(GpuEntry, PublishedFiguresStandBeside) {
  hardware::Device published = entry_of(facts(), readings(), "", "");
  published.engines[1].rates[0].peak_ops_per_s->value = 600e12;
  const auto lines = beside_published(entry_of(facts(), readings(), "", ""), published);
  EXPECT_THAT(lines, Contains(HasSubstr("(50 %)")));
  EXPECT_THAT(lines, Contains(HasSubstr("(100 %)")));
}

}  // namespace
}  // namespace aaco::workflows
