#include <gtest/gtest.h>

#include "analytics/llm_energy.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Rows {
  trace::NameTable names;
  std::vector<trace::SystemEventRow> events;
  std::vector<trace::GpuEventRow> gpu;

  void cpu(std::string_view metric, std::string_view entity, std::int64_t time_ns, double value, std::int32_t rank = 0) {
    trace::SystemEventRow row{.rank = rank, .time_ns = time_ns, .metric = names.intern(metric)};
    row.entity = names.intern(entity);
    row.value = value;
    events.push_back(row);
  }
  void device(std::string_view metric, std::int64_t index, std::int64_t time_ns, double value) {
    trace::GpuEventRow row{.time_ns = time_ns, .device = index, .metric = names.intern(metric)};
    row.value = value;
    gpu.push_back(row);
  }
  [[nodiscard]] std::optional<double> joules(std::int32_t machine = 0) const {
    return joules_of(events, gpu, names, machine, 0, 10 * kSecond);
  }
};

TEST(EnergyOfALoad, PackagesAndDevicesTogether) {
  Rows rows;
  for (int i = 0; i <= 10; ++i) {
    rows.cpu("cpu.energy_joules", "package-0", i * kSecond, 100 + 20.0 * i);
    rows.cpu("cpu.energy_joules", "package-0 core", i * kSecond, 15.0 * i);
    rows.device("gpu.power_watts", 0, i * kSecond, 300);
  }
  EXPECT_EQ(rows.joules(), 3200.0);
}
TEST(EnergyOfALoad, ExtendsAShortCounter) {
  Rows rows;
  for (int i = 1; i <= 9; ++i) rows.cpu("cpu.energy_joules", "package-0", i * kSecond, 20.0 * i);
  EXPECT_EQ(rows.joules(), 200.0);
}
TEST(EnergyOfALoad, NoneWithoutSensors) { EXPECT_FALSE(Rows().joules()); }
TEST(EnergyOfALoad, NoneOfHalfTheLevel) {
  Rows rows;
  for (int i = 0; i <= 5; ++i) rows.cpu("cpu.energy_joules", "package-0", i * kSecond, 20.0 * i);
  EXPECT_FALSE(rows.joules());
}
TEST(EnergyOfALoad, NoneOfACounterThatStartedAgain) {
  Rows rows;
  for (int i = 0; i <= 10; ++i) rows.cpu("cpu.energy_joules", "package-0", i * kSecond, i == 5 ? 0 : 20.0 * i);
  EXPECT_FALSE(rows.joules());
}
TEST(EnergyOfALoad, NoneWhereOneOfTwoIsMissing) {
  Rows rows;
  for (int i = 0; i <= 10; ++i) rows.cpu("cpu.energy_joules", "package-0", i * kSecond, 20.0 * i);
  rows.cpu("cpu.energy_joules", "package-1", 0, 3);
  EXPECT_FALSE(rows.joules());
}
TEST(EnergyOfALoad, OfTheServersMachineOnly) {
  Rows rows;
  for (int i = 0; i <= 10; ++i) rows.cpu("cpu.energy_joules", "package-0", i * kSecond, 20.0 * i, 1);
  EXPECT_FALSE(rows.joules());
  EXPECT_EQ(rows.joules(1), 200.0);
}

}  // namespace
}  // namespace aaco::analytics::llm
