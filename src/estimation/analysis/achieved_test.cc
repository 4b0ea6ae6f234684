#include "estimation/analysis/achieved.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

namespace aaco::estimation {
namespace {

DeviceFacts facts(const std::string& id, const std::string& architecture = "one", const std::string& vendor = "acme") {
  DeviceFacts made;
  made.id = id;
  made.vendor = vendor;
  made.architecture = architecture;
  made.flops_per_s = {{"bf16", 1e14}, {"fp32", 1e13}};
  made.memory_bytes_per_s = 1e12;
  return made;
}

DeviceCalibration fit(const std::string& id, double flops_per_s, double bytes_per_s, double floor_s, std::int64_t sites = 9) {
  LatencyModel model;
  model.kind = "gemm";
  model.type = "bf16";
  model.ceilings = {flops_per_s, bytes_per_s, 0, floor_s};
  model.quality.sites = sites;
  DeviceCalibration made;
  made.device = id;
  made.latency = {model};
  return made;
}

CalibrationSet with(DeviceCalibration calibration, const DeviceFacts& device) {
  CalibrationSet set;
  set.add(std::move(calibration), device);
  return set;
}

TEST(AchievedRates, AreTheDevicesOwnFirst) {
  CalibrationSet set = with(fit("acme_one", 8e13, 9e11, 3e-6), facts("acme_one"));
  set.add(fit("acme_two", 5e13, 5e11, 8e-6), facts("acme_two"));
  const auto own = achieved_rates(set, facts("acme_one"), "bf16");
  ASSERT_TRUE(own);
  EXPECT_DOUBLE_EQ(own->compute_ratio, 0.8);
  EXPECT_DOUBLE_EQ(own->memory_ratio, 0.9);
  EXPECT_DOUBLE_EQ(own->floor_s, 3e-6);
  EXPECT_EQ(own->source, "acme_one");
  EXPECT_EQ(achieved_rates(set, facts("acme_one"), "fp32")->compute_ratio, 0) << "nobody measured that type";
}

TEST(AchievedRates, ElseThoseOfTheNearestRelatives) {
  CalibrationSet set = with(fit("acme_one", 8e13, 9e11, 2e-6), facts("acme_one"));
  set.add(fit("acme_two", 2e13, 4e11, 8e-6), facts("acme_two"));
  set.add(fit("acme_old", 1e13, 1e11, 9e-6), facts("acme_old", "zero"));
  const auto lent = achieved_rates(set, facts("acme_three"), "bf16");
  ASSERT_TRUE(lent);
  EXPECT_NEAR(lent->compute_ratio, 0.4, 1e-9);
  EXPECT_NEAR(lent->memory_ratio, 0.6, 1e-9);
  EXPECT_NEAR(lent->floor_s, 4e-6, 1e-12);
  EXPECT_EQ(lent->source, "acme_one and acme_two");
  EXPECT_EQ(achieved_rates(set, facts("acme_four", "nine"), "bf16")->source, "acme_old and acme_one and acme_two");
}

TEST(AchievedRates, NoneOfStrangers) {
  const CalibrationSet set = with(fit("acme_one", 8e13, 9e11, 2e-6), facts("acme_one"));
  EXPECT_FALSE(achieved_rates(set, facts("other", "one", "umbrella"), "bf16"));
  DeviceFacts cpu = facts("acme_cpu");
  cpu.is_cpu = true;
  EXPECT_FALSE(achieved_rates(set, cpu, "bf16"));
  EXPECT_FALSE(achieved_rates({}, facts("acme_one"), "bf16"));
  EXPECT_FALSE(achieved_rates(with(fit("acme_one", 8e13, 9e11, 2e-6, 2), facts("acme_one")), facts("acme_one"), "bf16"))
      << "two sites are no evidence";
  EXPECT_FALSE(achieved_rates(with(fit("acme_one", 8e13, 0, 2e-6), facts("acme_one")), facts("acme_one"), "bf16"));
}

TEST(AchievedEstimate, ReplacesTheUsualPartOfTheRates) {
  LatencyEstimate theoretical;
  theoretical.explanation.compute_s = 1e-5;
  theoretical.explanation.memory_s = 1e-3;
  theoretical.explanation.floor_s = 4e-6;
  Mapping mapping;
  mapping.level = "memory";
  const auto made = achieved_estimate(theoretical, mapping, {0, 0.5, 6e-6, "acme_one"});
  EXPECT_NEAR(made.seconds, 1e-3 / (0.85 * 0.5) + 6e-6, 1e-9);
  EXPECT_EQ(made.level, Level::interpolated);
  EXPECT_GE(made.lower, 1e-3);
  EXPECT_NEAR(made.upper, 3 * made.seconds, 1e-9);
  EXPECT_EQ(made.source, "achieved rates of acme_one");
  mapping.level = "L2";
  EXPECT_NEAR(achieved_estimate(theoretical, mapping, {0, 0.5, 6e-6, "acme_one"}).seconds, 1e-3 / 0.75 + 6e-6, 1e-9)
      << "a cache was not measured";
}
// L4's last cache holds 48 MiB, and nobody has published how fast it is: the memory's rate is no limit of what stays in it.
TEST(AchievedEstimate, ACacheOfUnknownSpeedMayFeedItFaster) {
  LatencyEstimate theoretical;
  theoretical.explanation.compute_s = 1e-5;
  theoretical.explanation.memory_s = 1e-3;
  Mapping mapping;
  mapping.level = "memory";
  mapping.bytes_per_s = 3e11;
  const Achieved achieved{0, 1, 0, "acme_one"};
  EXPECT_NEAR(achieved_estimate(theoretical, mapping, achieved).lower, 1e-3, 1e-9);
  mapping.most_bytes_per_s = 1.5e13;
  const auto fed = achieved_estimate(theoretical, mapping, achieved);
  EXPECT_NEAR(fed.lower, fed.seconds / 2, 1e-9);
}

}  // namespace
}  // namespace aaco::estimation
