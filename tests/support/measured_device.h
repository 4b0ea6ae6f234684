#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "estimation/calibrated.h"
#include "estimation/calibration.h"

// For the tests of the fits and of what they lend: a device that was measured, and a fit of it.
namespace aaco::estimation {

inline DeviceFacts device(const std::string& id = "acme_one", double bandwidth = 1e12) {
  DeviceFacts facts;
  facts.id = id;
  facts.vendor = "acme";
  facts.architecture = "one";
  facts.compute_units = 100;
  facts.flops_per_s = {{"bf16", 1e14}};
  facts.vector_flops_per_s = 1e13;
  facts.memory_bytes_per_s = bandwidth;
  facts.cache_bytes = 1e6;
  return facts;
}

// A device that reaches 70 % of the peak, 80 % of the bandwidth, needs 5 us for a launch, and is measured with 3 % of noise.
inline std::vector<Measurement> measured(const DeviceFacts& facts, std::uint64_t seed = 1) {
  core::Random random(seed);
  std::vector<Measurement> rows;
  for (std::int64_t n = 64; n <= 8192; n *= 2)
    for (std::int64_t k = 64; k <= 8192; k *= 2)
      for (std::int64_t m = 1; m <= 4096; m *= 4) {
        const Kernel kernel{GemmShape{1, m, n, k}, "bf16"};
        const Work work = work_of(kernel).value();
        const double seconds = std::max(work.flops / 0.7e14, work.bytes / (0.8 * facts.memory_bytes_per_s)) + 5e-6;
        const double noisy = seconds * std::exp(0.03 * random.normal());
        const double watts = 100 + (work.flops * 1e-12 + work.bytes * 20e-12) / seconds;
        rows.push_back({kernel, noisy, watts, "table.csv:" + std::to_string(rows.size() + 2)});
      }
  return rows;
}

inline FitSettings quick() {
  FitSettings settings;
  settings.parts = 3;
  return settings;
}

#define AACO_CALIBRATED(name, ...)                                                  \
  auto name##_result = __VA_ARGS__;                                                 \
  if (!name##_result && name##_result.error().code == core::ErrorCode::unsupported) \
    GTEST_SKIP() << name##_result.error().message;                                  \
  ASSERT_TRUE(name##_result) << name##_result.error().text();                       \
  auto name = *std::move(name##_result)

}  // namespace aaco::estimation
