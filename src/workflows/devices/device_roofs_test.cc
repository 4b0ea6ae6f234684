#include "workflows/device_roofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/measured_device.h"
#include "tests/support/source_dir.h"
#include "workflows/calibration_registry.h"

namespace aaco::workflows {
namespace {

using report::Roof;
using testing::HasSubstr;

constexpr const char* kDevice = "amd_instinct_mi300x_192gb";

class DeviceRoofsTest : public testing::Test {
 protected:
  DeviceRoofsTest() {
    paths_.share = AACO_SOURCE_DIR;
    paths_.registry = folder_.path();
  }
  DeviceRoofs calibrated() {
    estimation::DeviceCalibration calibration;
    calibration.device = kDevice;
    calibration.provenance.created = "2026-11-20T08:00:00Z";
    calibration.latency.push_back(model("gemm", "bf16", 700e12, 4e12, 9e12, 400));
    calibration.latency.push_back(model("gemm", "fp8_block", 900e12, 3e12, 0, 40));
    calibration.latency.push_back(model("gemm", "fp8", 1100e12, 0, 0, 40));
    calibration.latency.push_back(model("attention", "bf16", 300e12, 0, 8e12, 50));
    calibration.latency.push_back(model("convolution", "bf16", 5e12, 0, 0, 2));
    calibration.latency.push_back(model("vector", "fp32", 1e12, 4.4e12, 0, 30));
    DeviceRoofs roofs = device_roofs(kDevice, paths_).value();
    add_calibration(roofs, calibration);
    return roofs;
  }
  static estimation::LatencyModel model(const char* kind, const char* type, double flops, double main, double cached,
                                        std::int64_t sites) {
    estimation::LatencyModel out;
    out.kind = kind;
    out.type = type;
    out.ceilings = {flops, main, cached, 1e-6};
    out.quality.sites = sites;
    return out;
  }

  core::TemporaryDirectory folder_ = core::TemporaryDirectory::make("/tmp", "aaco-roofs").value();
  core::Paths paths_;
};

TEST_F(DeviceRoofsTest, WithoutACalibrationTheEntryAlone) {
  const auto roofs = device_roofs(kDevice, paths_);
  ASSERT_TRUE(roofs) << roofs.error().text();
  EXPECT_TRUE(roofs->calibration.empty() && roofs->problem.empty());
  EXPECT_EQ(roofs->measured("bfloat16", "gemm"), nullptr);
  EXPECT_FALSE(roofs->measured_ns({"bfloat16", "gemm", 1e12, 1e6, 1, false}));
  const auto list = roofs->roofs({{"bfloat16", "gemm"}, {"bfloat16", "attention"}});
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list.front().name, "bfloat16");
  EXPECT_EQ(list.back().name, "main memory");
  std::size_t memory = 0;
  for (const Roof& roof : list) {
    EXPECT_EQ(roof.basis, Roof::Basis::stated);
    EXPECT_EQ(roof.of, roof.name);
    memory += roof.kind == Roof::Kind::memory ? 1U : 0U;
  }
  EXPECT_GE(memory, 3U) << "caches with a stated bandwidth are roofs as well";
}

TEST_F(DeviceRoofsTest, MeasuredCeilingIsListedWithTheStatedOne) {
  const DeviceRoofs roofs = calibrated();
  EXPECT_EQ(roofs.calibration, "calibration of amd_instinct_mi300x_192gb, 2026-11-20");
  EXPECT_EQ(roofs.measured("bfloat16", "attention")->of, "attention bf16");
  EXPECT_EQ(roofs.measured("bfloat16", "elementwise")->of, "gemm bf16") << "a kind of its own is missing: the best of the type";
  EXPECT_EQ(roofs.measured("bfloat16", "convolution")->of, "gemm bf16") << "two sites are too few";
  EXPECT_EQ(roofs.measured("float8", "gemm")->of, "gemm fp8") << "variants compute in the same element";
  EXPECT_EQ(roofs.measured("float32", "gemm"), nullptr) << "vector kernels tell no compute ceiling";
  EXPECT_EQ(roofs.main->of, "vector fp32");
  EXPECT_EQ(roofs.cached->per_second, 9e12);
  std::string texts;
  for (const Roof& roof : roofs.roofs({{"bfloat16", "gemm"}, {"bfloat16", "norm"}}))
    if (roof.basis == Roof::Basis::measured) texts += roof.name + "|" + roof.source + "\n";
  EXPECT_EQ(texts,
            "bfloat16, measured|measured: calibration of amd_instinct_mi300x_192gb, 2026-11-20, gemm bf16, 400 sites\n"
            "cached, measured|measured: calibration of amd_instinct_mi300x_192gb, 2026-11-20, gemm bf16, 400 sites\n"
            "main memory, measured|measured: calibration of amd_instinct_mi300x_192gb, 2026-11-20, vector fp32, 30 sites\n");
}

TEST_F(DeviceRoofsTest, RejectsCeilingsFarBelowTheStatedOne) {
  estimation::DeviceCalibration calibration;
  calibration.device = kDevice;
  calibration.latency.push_back(model("gemm", "bf16", 33.7e12, 1.07e12, 0, 41));
  calibration.latency.push_back(model("gemm", "fp8", 1100e12, 4e12, 9e12, 2));
  DeviceRoofs roofs = device_roofs(kDevice, paths_).value();
  add_calibration(roofs, calibration);
  EXPECT_EQ(roofs.measured("bfloat16", "gemm"), nullptr) << "2.6 % of the peak";
  EXPECT_EQ(roofs.measured("float8", "gemm"), nullptr) << "two sites are too few";
  EXPECT_FALSE(roofs.main) << "20 % of the bandwidth";
  EXPECT_FALSE(roofs.cached);
}

TEST_F(DeviceRoofsTest, TheLeastTimeByWhatWasMeasured) {
  const DeviceRoofs roofs = calibrated();
  ASSERT_TRUE(roofs.fits_cache(100e6) && !roofs.fits_cache(1e9));
  EXPECT_NEAR(*roofs.measured_ns({"bfloat16", "gemm", 700e9, 1e6, 1, false}), 1e6, 1);
  EXPECT_NEAR(*roofs.measured_ns({"bfloat16", "gemm", 0, 4.4e9, 1, false}), 1e6, 1);
  EXPECT_NEAR(*roofs.measured_ns({"bfloat16", "gemm", 0, 9e9, 100, false}), 1e6, 1) << "each of a hundred fits the cache";
  EXPECT_NEAR(*roofs.measured_ns({"bfloat16", "gemm", 0, 4.4e9, 100, true}), 1e6, 1) << "counted at the memory";
  EXPECT_FALSE(roofs.measured_ns({"float64", "gemm", 1e9, 1e6, 1, false}));
  EXPECT_FALSE(roofs.measured_ns({"bfloat16", "gemm", 0, 0, 1, false}));
}

TEST_F(DeviceRoofsTest, DamagedCalibrationIsReported) {
  ASSERT_TRUE(core::make_directories(core::parent_path(user_calibration_path(paths_, kDevice))));
  ASSERT_TRUE(core::write_file_atomic(user_calibration_path(paths_, kDevice), "aaco-calibration 2 cut"));
  const auto roofs = device_roofs(kDevice, paths_);
  ASSERT_TRUE(roofs);
  EXPECT_THAT(roofs->problem, HasSubstr(kDevice));
  EXPECT_TRUE(roofs->calibration.empty());
}

TEST_F(DeviceRoofsTest, ABoardOfTwoDevicesIsOneOfThem) {
  const auto board = device_roofs("amd_instinct_mi250x_128gb", paths_).value();
  EXPECT_EQ(board.id, "amd_instinct_mi250x_128gb@one_die");
  const auto facts = estimation::facts_of(board.device);
  AACO_CALIBRATED(calibration, estimation::calibrate(estimation::measured(facts), facts, estimation::quick()));
  calibration.provenance = {"1.0", "2026-11-20T08:00:00Z", {}, {}};
  ASSERT_TRUE(save_calibration(paths_, calibration));
  const auto measured = device_roofs("amd_instinct_mi250x_128gb", paths_).value();
  EXPECT_EQ(measured.problem, "");
  EXPECT_EQ(measured.calibration, "calibration of amd_instinct_mi250x_128gb@one_die, 2026-11-20");
  ASSERT_NE(measured.measured("bfloat16", "gemm"), nullptr);
  EXPECT_NEAR(measured.measured("bfloat16", "gemm")->per_second / 0.7e14, 1, 0.1);
  EXPECT_FALSE(device_roofs("amd_instinct_mi250x_128gb@one_die", paths_).value().calibration.empty());
}

TEST_F(DeviceRoofsTest, AnUnknownDeviceIsAnError) { EXPECT_FALSE(device_roofs("no_such_device", paths_)); }

TEST(DescribeSources, PointsAboveTheirRoofAreExplained) {
  report::RoofPoint point;
  point.work_from = "shapes";
  point.reached_ratio = 0.8;
  EXPECT_THAT(describe_sources({point, point}), testing::Not(HasSubstr("above")));
  report::RoofPoint fast = point;
  fast.reached_ratio = 1.65;
  EXPECT_THAT(describe_sources({point, fast}), HasSubstr("1 of 2 points is above its roof (up to 165 %)"));
}

}  // namespace
}  // namespace aaco::workflows
