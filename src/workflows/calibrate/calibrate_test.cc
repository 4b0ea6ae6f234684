#include "workflows/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "core/random.h"
#include "tests/support/made_session.h"
#include "workflows/benchmark.h"
#include "workflows/validate.h"

namespace aaco::workflows {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kDevice = "nvidia_h100_sxm5_80gb";
constexpr const char* kHeader = "device,dtype,batch,m,n,k,latency_us,power_w,source\n";

// Products on a device that reaches 70 % of its peak and bandwidth, with 4 us for a launch and 3 % of noise.
std::string products(const char* device = "H100-SXM-80GB", double seconds_factor = 1) {
  core::Random random(1);
  std::string text;
  for (const long n : {256, 1024, 4096})
    for (const long k : {256, 1024, 4096})
      for (const long m : {1, 64, 1024}) {
        const double flops = 2e0 * m * n * k, bytes = 2e0 * (m * n + m * k + n * k);
        const double seconds = (std::max(flops / 0.7e15, bytes / 2.3e12) + 4e-6) * std::exp(0.03 * random.normal());
        char row[160];
        std::snprintf(row, sizeof row, "%s,bfloat16,1,%ld,%ld,%ld,%.6f,,made\n", device, m, n, k, seconds * seconds_factor * 1e6);
        text += row;
      }
  return text;
}

class Calibrate : public testing::Test {
 protected:
  Calibrate() { request_.hardware = "h100"; }
  void table(const std::string& rows) { request_.measurements = {lake_.file("table.csv", kHeader + rows)}; }
  // Results of `aaco benchmark` on a backend.
  void benchmarked(const std::string& backend, const std::string& rows) const {
    const std::string folder = benchmark_folder(lake_.services.paths, kDevice, backend);
    ASSERT_TRUE(core::make_directories(folder));
    ASSERT_TRUE(core::write_file_atomic(core::join_path(folder, "gemm.csv"), kHeader + rows));
  }
  std::string refusal() {
    const auto made = calibrate(request_, lake_.services);
    return made ? "accepted" : made.error().text();
  }
  [[nodiscard]] bool calibrated() const {
    return core::exists(lake_.in("registry")) &&
           testing::Value(core::list_directory(lake_.in("registry")).value(), Contains(testing::EndsWith(".calibration")));
  }
  Lake lake_;
  CalibrateRequest request_;
};

#define AACO_FITTED(name)                                                                                     \
  const auto name = calibrate(request_, lake_.services);                                                      \
  if (!(name) && (name).error().code == core::ErrorCode::unsupported) GTEST_SKIP() << (name).error().message; \
  ASSERT_TRUE(name) << (name).error().text()

TEST_F(Calibrate, FitsTheDevicesOwnRowsAndStoresThem) {
  table(products() + products("MI300X", 2));
  AACO_FITTED(made);
  EXPECT_EQ(made->rows, 54);
  EXPECT_EQ(made->other_devices, 27);
  ASSERT_EQ(made->calibration.latency.size(), 1U);
  EXPECT_EQ(made->calibration.latency[0].quality.rows, 27);
  EXPECT_EQ(made->calibration.latency[0].quality.sites, 9);
  EXPECT_THAT(made->measure_next, Contains(HasSubstr("measure more sites of gemm bf16")));
  EXPECT_TRUE(core::exists(made->path));

  ValidateRequest again;
  again.hardware = "h100";
  again.measurements = request_.measurements;
  const auto judged = validate(again, lake_.services);
  ASSERT_TRUE(judged) << judged.error().text();
  EXPECT_EQ(judged->levels, (std::map<std::string, std::int64_t>{{"CALIBRATED", 27}}));
  EXPECT_LT(judged->latency.all.mean_ape->value, 0.15);
}
TEST_F(Calibrate, ImpossibleRowsAreCountedAndNotFitted) {
  table(products() + "h100,bf16,1,8192,8192,8192,1,,made\n");
  AACO_FITTED(made);
  EXPECT_EQ(made->rejected, 1);
  EXPECT_EQ(made->calibration.latency[0].quality.rows, 27);
  EXPECT_THAT(made->notes, Contains(HasSubstr("table.csv:29")));
}
TEST_F(Calibrate, TimesInAnotherUnitAreSuspected) {
  table(products("H100-SXM-80GB", 1000));
  AACO_FITTED(made);
  EXPECT_THAT(made->notes, Contains(HasSubstr("are the times in microseconds?")));
}
TEST_F(Calibrate, OwnBenchmarksAreUsedWhereNoTablesAreGiven) {
  benchmarked("cpu", products());
  AACO_FITTED(made);
  EXPECT_EQ(made->rows, 27);
}

TEST_F(Calibrate, RefusesBenchmarksOfSeveralBackendsUnlessOneIsSelected) {
  benchmarked("cpu", products());
  benchmarked("tensorrt", products("MI300X"));
  EXPECT_THAT(refusal(), HasSubstr("on several backends: cpu, tensorrt"));
  request_.backend = "tensorrt";
  EXPECT_THAT(refusal(), HasSubstr("the tables contain no measurements for nvidia_h100")) << "the selected one is read";
  request_.backend = "openvino";
  EXPECT_THAT(refusal(), HasSubstr("no benchmark results for nvidia_h100_sxm5_80gb on openvino"));
  EXPECT_FALSE(calibrated());
}
TEST_F(Calibrate, RefusesADeviceWithoutBenchmarks) {
  EXPECT_THAT(refusal(), HasSubstr("no benchmark results for nvidia_h100"));
  request_.hardware = "nosuch";
  EXPECT_THAT(refusal(), HasSubstr("nosuch"));
}
TEST_F(Calibrate, RefusesTablesTogetherWithABackend) {
  table(products());
  request_.backend = "cpu";
  EXPECT_THAT(refusal(), HasSubstr("mutually exclusive"));
}
TEST_F(Calibrate, RefusesTablesOfOtherDevices) {
  table(products("MI300X"));
  EXPECT_THAT(refusal(), HasSubstr("the tables contain no measurements for nvidia_h100"));
  EXPECT_FALSE(calibrated());
}
TEST_F(Calibrate, RefusesRowsThatCannotBeFitted) {
  table("h100,int4,1,64,64,64,10,,made\nh100,int4,1,64,128,64,10,,made\n");
  EXPECT_NE(refusal(), "accepted");
  table("h100,bf16,1,8192,8192,8192,1,,made\n");
  EXPECT_NE(refusal(), "accepted");
  EXPECT_FALSE(calibrated()) << "the registry stays as it was";
}

TEST(BenchmarkFolder, OtherBackendsAreBelowTheDefault) {
  core::Paths paths;
  paths.registry = "/r";
  EXPECT_EQ(benchmark_folder(paths, "d", "cpu"), "/r/benchmarks/d");
  EXPECT_EQ(benchmark_folder(paths, "d", "tensorrt"), "/r/benchmarks/d/tensorrt");
}
TEST(ListBenchmarks, RefusesUnknownSuites) {
  const Lake lake;
  BenchmarkRequest request;
  request.suite = "micro";
  EXPECT_FALSE(list_benchmarks(request, lake.services)->empty());
  request.suite = "nosuch";
  EXPECT_FALSE(list_benchmarks(request, lake.services));
}
TEST(Benchmark, RefusesModelsOnPyTorchBeforeItMeasures) {
  const Lake lake;
  BenchmarkRequest request;
  request.suite = "workloads";
  request.backend = "pytorch";
  const auto refused = benchmark(request, lake.services);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the pytorch backends run single operators only"));
}

}  // namespace
}  // namespace aaco::workflows
