#include "analytics/sensor_agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace aaco::analytics::trust {
namespace {

using Verdict = SensorAgreement::Verdict;

// Telemetry of a device, made by functions of the time.
struct Rows {
  trace::NameTable names;
  std::vector<trace::GpuEventRow> rows;
  void add(const char* metric, const char* source, int count, double step_s, const std::function<double(double)>& value,
           std::int64_t device = 0) {
    for (int i = 0; i < count; ++i) {
      const double time = i * step_s;
      rows.push_back({0, std::llround(time * 1e9), device, names.intern(metric), names.intern(source), value(time)});
    }
  }
  std::vector<SensorAgreement> compare() const { return compare_sensors(rows, names); }
};
std::function<double(double)> constant(double value) {
  return [value](double) { return value; };
}

TEST(SensorAgreement, TwoPowerSensorsThatAgree) {
  Rows r;
  r.add("gpu.power_watts", "amdgpu.hwmon", 50, 0.05, constant(300));
  r.add("gpu.power_watts", "amdgpu.gpu_metrics", 100, 0.02, constant(310));
  const auto found = r.compare();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].verdict, Verdict::agree);
  EXPECT_EQ(found[0].source_a, "amdgpu.gpu_metrics");
  EXPECT_DOUBLE_EQ(found[0].difference, 10);
  EXPECT_GE(found[0].pairs, 40);
  EXPECT_FALSE(disagreement_warning(found));
}
TEST(SensorAgreement, ASecondDieThatReadsZeroIsFound) {
  Rows r;
  r.add("gpu.power_watts", "amdgpu.hwmon", 50, 0.05, constant(0));
  r.add("gpu.power_watts", "amdgpu.gpu_metrics", 50, 0.05, constant(280));
  const auto found = r.compare();
  EXPECT_EQ(found[0].verdict, Verdict::disagree);
  const auto warning = disagreement_warning(found);
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->message.find("amdgpu.gpu_metrics reports 280, amdgpu.hwmon reports 0"), std::string::npos)
      << warning->message;
}
TEST(SensorAgreement, AnEnergyCounterInAWrongUnitIsFound) {
  Rows r;
  r.add("gpu.power_watts", "amdgpu.hwmon", 100, 0.05, constant(300));
  r.add("gpu.energy_joules", "amdgpu.gpu_metrics", 100, 0.05, [](double t) { return 300 * t * 15.259; });
  const auto found = r.compare();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].metric, "gpu.energy_joules");
  EXPECT_EQ(found[0].verdict, Verdict::disagree);
}
TEST(SensorAgreement, AnEnergyCounterThatFollowsThePowerAgrees) {
  Rows r;
  r.add("gpu.power_watts", "nvml", 200, 0.05, [](double t) { return 300 + 100 * std::sin(t); });
  r.add("gpu.energy_joules", "nvml", 200, 0.05, [](double t) { return 300 * t - 100 * std::cos(t); });
  EXPECT_EQ(r.compare()[0].verdict, Verdict::agree);
}
TEST(SensorAgreement, CounterResetLosesOneStep) {
  Rows r;
  r.add("gpu.power_watts", "nvml", 100, 0.05, constant(300));
  r.add("gpu.energy_joules", "nvml", 100, 0.05, [](double t) { return t < 2 ? 1e6 + 300 * t : 300 * t; });
  const auto found = r.compare();
  EXPECT_EQ(found[0].verdict, Verdict::agree);
  EXPECT_EQ(found[0].pairs, 98);
}
TEST(SensorAgreement, ActivityOfZeroOnABusyDeviceIsFound) {
  Rows r;
  r.add("gpu.use_ratio", "amdgpu.sysfs", 30, 0.05, constant(0));
  r.add("gpu.use_ratio", "amdgpu.gpu_metrics.accumulated", 30, 0.05, constant(0.95));
  EXPECT_EQ(r.compare()[0].verdict, Verdict::disagree);
}
TEST(SensorAgreement, TooFewReadingsDecideNothing) {
  Rows r;
  r.add("gpu.power_watts", "a", 9, 0.05, constant(0));
  r.add("gpu.power_watts", "b", 9, 0.05, constant(300));
  EXPECT_EQ(r.compare()[0].verdict, Verdict::undecided);
}
TEST(SensorAgreement, ReadingsThatScatterDecideNothing) {
  Rows r;
  r.add("gpu.power_watts", "a", 20, 0.05, [](double t) { return std::llround(t * 20) % 2 == 0 ? 100.0 : 600.0; });
  r.add("gpu.power_watts", "b", 20, 0.05, constant(300));
  EXPECT_EQ(r.compare()[0].verdict, Verdict::undecided);
}
TEST(SensorAgreement, ReadingsFarApartInTimeAreNoPairs) {
  Rows r;
  r.add("gpu.power_watts", "a", 20, 0.05, constant(100));
  r.add("gpu.power_watts", "b", 20, 0.05, constant(300));
  for (auto& row : r.rows)
    if (r.names.text(row.source) == "b") row.time_ns += 10'000'000'000;
  EXPECT_EQ(r.compare()[0].pairs, 0);
  EXPECT_EQ(r.compare()[0].verdict, Verdict::undecided);
}
TEST(SensorAgreement, SeparatesDevicesAndMetrics) {
  Rows r;
  r.add("gpu.power_watts", "a", 20, 0.05, constant(100), 0);
  r.add("gpu.power_watts", "b", 20, 0.05, constant(300), 1);
  r.add("gpu.clock_hz", "b", 20, 0.05, constant(1e9), 0);
  EXPECT_TRUE(r.compare().empty());
}
TEST(SensorAgreement, QuantitiesWithoutATolerancesAreNotCompared) {
  Rows r;
  r.add("gpu.fan_rpm", "a", 20, 0.05, constant(100));
  r.add("gpu.fan_rpm", "b", 20, 0.05, constant(9000));
  EXPECT_TRUE(r.compare().empty());
}
TEST(SensorAgreement, IgnoresNonFiniteValues) {
  Rows r;
  r.add("gpu.power_watts", "a", 20, 0.05, constant(std::nan("")));
  r.add("gpu.power_watts", "b", 20, 0.05, constant(300));
  EXPECT_TRUE(r.compare().empty());
}
TEST(SensorAgreement, NoResultWithoutReadings) {
  EXPECT_TRUE(Rows().compare().empty());
  EXPECT_FALSE(disagreement_warning({}));
}
TEST(SensorAgreement, OrderOfTheRowsDoesNotMatter) {
  Rows r;
  r.add("gpu.power_watts", "a", 30, 0.05, [](double t) { return 300 + t; });
  r.add("gpu.power_watts", "b", 40, 0.04, [](double t) { return 301 + t; });
  const auto forward = r.compare();
  std::reverse(r.rows.begin(), r.rows.end());
  EXPECT_EQ(r.compare(), forward);
}

TEST(SensorTrust, AgreeingSensorsAreTrusted) {
  Rows r;
  r.add("gpu.power_watts", "amdgpu.hwmon", 50, 0.05, constant(300));
  r.add("gpu.power_watts", "amdgpu.gpu_metrics", 100, 0.02, constant(310));
  const auto trust = sensor_trust(r.compare());
  ASSERT_EQ(trust.size(), 2U);
  EXPECT_EQ(trust[0].source, "amdgpu.gpu_metrics");
  EXPECT_EQ(trust[0].score, 1.0);
  EXPECT_EQ(trust[1].agreed, 1);
}
TEST(SensorTrust, OutlierOfThreeIsTrustedLeast) {
  Rows r;
  r.add("gpu.power_watts", "a", 50, 0.05, constant(300));
  r.add("gpu.power_watts", "b", 50, 0.05, constant(301));
  r.add("gpu.power_watts", "wrong unit", 50, 0.05, constant(0.3));
  const auto trust = sensor_trust(r.compare());
  ASSERT_EQ(trust.size(), 3U);
  EXPECT_LT(*trust[2].score, 0.1);
  EXPECT_GT(*trust[0].score, 0.5);
  EXPECT_EQ(trust[2].disagreed, 2);
}
TEST(SensorTrust, UndecidedGivesNoScore) {
  Rows r;
  r.add("gpu.power_watts", "a", 3, 0.05, constant(300));
  r.add("gpu.power_watts", "b", 3, 0.05, constant(300));
  const auto trust = sensor_trust(r.compare());
  ASSERT_EQ(trust.size(), 2U);
  EXPECT_EQ(trust[0].score, std::nullopt);
  EXPECT_EQ(trust[0].undecided, 1);
}
TEST(SensorTrust, SingleSensorHasNoScore) {
  Rows r;
  r.add("gpu.power_watts", "a", 50, 0.05, constant(300));
  EXPECT_TRUE(sensor_trust(r.compare()).empty());
}
TEST(SensorTrust, ComparesEnergyCounterWithPower) {
  Rows r;
  r.add("gpu.energy_joules", "counter", 100, 0.05, [](double t) { return 300 * t; });
  r.add("gpu.power_watts", "sensor", 100, 0.05, constant(300));
  const auto trust = sensor_trust(r.compare());
  ASSERT_EQ(trust.size(), 2U);
  EXPECT_EQ(trust[0].metric, "gpu.energy_joules");
  EXPECT_EQ(trust[1].metric, "gpu.power_watts");
  EXPECT_EQ(trust[1].agreed, 1);
}

}  // namespace
}  // namespace aaco::analytics::trust
