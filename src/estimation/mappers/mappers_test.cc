#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimation/mapping.h"
#include "tests/support/shipped_device.h"

namespace aaco::estimation {
namespace {

using hardware::shipped_device;
using testing::HasSubstr;

Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k, const char* type = "bf16", std::int64_t batch = 1) {
  return {GemmShape{batch, m, n, k}, type};
}
core::Result<Mapping> map(const Kernel& kernel, const char* device) {
  const Work work = work_of(kernel).value();
  return map_kernel(kernel, work, shipped_device(device));
}
double seconds(const Kernel& kernel, const char* device) {
  const Work work = work_of(kernel).value();
  const auto found = shipped_device(device);
  return theoretical_estimate(work, map_kernel(kernel, work, found).value(), found).seconds;
}

TEST(GpuMapper, ALargeProductFillsTilesAndWaves) {
  const Mapping mapping = map(gemm(8192, 8192, 4096), "H100").value();
  EXPECT_THAT(mapping.engine, HasSubstr("ensor"));
  EXPECT_GT(mapping.compute_ratio(), 0.8);
  EXPECT_EQ(mapping.tile_ratio, 1);
  EXPECT_EQ(mapping.split_k, 1);
}

TEST(GpuMapper, UnknownCacheBandwidthLowersTheLowEnd) {
  const auto of = [](const char* name) {
    const Kernel kernel{VectorShape{"add", 1024, 2048}, "fp32"};
    const Work work = work_of(kernel).value();
    const auto device = shipped_device(name);
    const Mapping mapping = map_kernel(kernel, work, device).value();
    return theoretical_estimate(work, mapping, device).lower / (work.bytes / device.memory.bytes_per_s->value);
  };
  EXPECT_LT(of("L40S"), 0.9);
  EXPECT_LT(of("H100"), 0.9) << "its cache has a published bandwidth";
  EXPECT_GE(of("MI210"), 0.9) << "its cache is too small";
}

TEST(GpuMapper, OneTileMoreThanTheUnitsTakesAnotherWave) {
  // 132 multiprocessors: a wave of 133 whole tiles wastes half.
  Mapping full = map(gemm(128 * 132, 128, 4096), "H100").value();
  Mapping over = map(gemm(128 * 133, 128, 4096), "H100").value();
  EXPECT_GT(full.wave_ratio, 0.9);
  EXPECT_LT(over.compute_ratio(), full.compute_ratio());
}

TEST(GpuMapper, ASmallProductOfLongSumsSplitsThem) {
  const Mapping mapping = map(gemm(64, 64, 65536), "MI300X").value();
  EXPECT_GT(mapping.split_k, 1);
  EXPECT_LT(mapping.wave_ratio, 1) << "and still does not fill every unit";
}

TEST(GpuMapper, TilesFitTheirStagingMemory) {
  for (const char* device : {"MI300X", "MI100", "T4", "H100"}) {
    const Mapping mapping = map(gemm(4096, 4096, 4096, "fp32"), device).value();
    ASSERT_GT(mapping.staging_bytes, 0) << device;
    EXPECT_GT(mapping.tile_ratio, 0.5) << device;
  }
}

TEST(GpuMapper, FewRowsOfAnElementwiseOperatorCannotKeepMemoryBusy) {
  const Mapping few = map({VectorShape{"add", 1, 1024}, "fp32"}, "MI300X").value();
  const Mapping many = map({VectorShape{"add", 65536, 4096}, "fp32"}, "MI300X").value();
  EXPECT_LT(few.bytes_per_s, many.bytes_per_s);
  EXPECT_EQ(many.level, "memory");
}

TEST(GpuMapper, AFurtherGroupOfThreadsMakesNothingFaster) {
  for (const char* device : {"MI300X", "H100", "T4"}) {
    double before = 0;
    for (std::int64_t rows = 1; rows < 700; ++rows) {
      const double now = seconds({VectorShape{"layernorm", rows, 768}, "fp32"}, device);
      EXPECT_GE(now, before * (1 - 1e-12)) << device << " " << rows;
      before = now;
    }
  }
}

TEST(CpuMapper, NarrowResultsLeaveLanesEmpty) {
  EXPECT_EQ(map(gemm(516, 512, 512, "fp32"), "EPYC 9654").value().tile_ratio, 1);
  EXPECT_LT(map(gemm(3, 3, 512, "fp32"), "EPYC 9654").value().tile_ratio, 0.25);
}

TEST(CpuMapper, WidenedTypeUsesLanesOfWiderType) {
  const Mapping half = map(gemm(3136, 64, 576, "fp16"), "EPYC 9654").value();
  EXPECT_EQ(half.computed_as, "float32");
  EXPECT_EQ(half.tiles, map(gemm(3136, 64, 576, "fp32"), "EPYC 9654").value().tiles);
  for (const std::int64_t rows : {1, 7, 100, 784, 3136, 12544})
    EXPECT_LE(seconds(gemm(rows, 64, 576, "fp16"), "EPYC 9654"), seconds(gemm(rows, 64, 576, "fp32"), "EPYC 9654")) << rows;
}

TEST(CpuMapper, SmallWorkUsesFewCores) {
  EXPECT_LT(map(gemm(16, 16, 16, "fp32"), "EPYC 9654").value().wave_ratio, 0.02);
  EXPECT_GT(map(gemm(4096, 4096, 512, "fp32"), "EPYC 9654").value().wave_ratio, 0.95);
}

TEST(CpuMapper, MoreWorkNeverTakesLessTime) {
  for (const char* device : {"EPYC 9654", "EPYC 9754", "Xeon 8280", "Xeon 8490H", "i7-12700K", "Ryzen 9 8945HS"})
    for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{1, 64}, {10, 512}, {17, 33}, {512, 784}, {4096, 4096}})
      for (const std::int64_t batch : {1, 12}) {
        double rows = 0, columns = 0, batched = 0;
        for (std::int64_t m = 1; m <= 300; ++m) {
          const double next = seconds(gemm(m, n, k, "fp32", batch), device),
                       turned = seconds(gemm(n, m, k, "fp32", batch), device);
          const double more = seconds(gemm(n, n, k, "fp32", m), device);
          EXPECT_GE(next, rows * (1 - 1e-12)) << device << " " << m << "x" << n << " k " << k;
          EXPECT_GE(turned, columns * (1 - 1e-12)) << device << " " << n << "x" << m << " k " << k;
          EXPECT_GE(more, batched * (1 - 1e-12)) << device << " " << m << " of " << n << "x" << n << " k " << k;
          rows = next, columns = turned, batched = more;
        }
      }
}

TEST(CpuMapper, WorkJustAboveOneCoreStaysOnOneCore) {
  double before = 0;
  for (double operations = 1e3; operations < 1e9; operations *= 1.01) {
    const Work work{operations, 1};
    const Mapping mapping = map_kernel({OtherShape{"Relu", operations, 1}, "fp32"}, work, shipped_device("EPYC 9654")).value();
    const double now = theoretical_estimate(work, mapping, shipped_device("EPYC 9654")).seconds;
    EXPECT_GE(now, before * (1 - 1e-12)) << operations;
    before = now;
  }
}

TEST(CpuMapper, RatiosAreParts) {
  for (std::int64_t m = 1; m <= 40; ++m)
    for (std::int64_t n = 1; n <= 40; ++n)
      for (const char* type : {"fp64", "fp32"}) {
        const Mapping mapping = map(gemm(m, n, 64, type), "i7-12700K").value();
        for (const double ratio : {mapping.tile_ratio, mapping.wave_ratio, mapping.pipeline_ratio}) {
          EXPECT_GT(ratio, 0) << m << "x" << n;
          EXPECT_LE(ratio, 1 + 1e-12) << m << "x" << n;
        }
      }
}

TEST(SystolicMapper, FewRowsDoNotFillTheGrid) {
  const Mapping one = map(gemm(1, 4096, 4096), "TPU v5e").value();
  const Mapping many = map(gemm(8192, 4096, 4096), "TPU v5e").value();
  EXPECT_LT(one.pipeline_ratio, 0.01);
  EXPECT_GT(many.pipeline_ratio, 0.95);
  EXPECT_EQ(many.tile_ratio, 1);
  EXPECT_LT(map(gemm(8192, 130, 130), "TPU v5e").value().tile_ratio, 0.3);
}

TEST(SystolicMapper, SmallProductsShareATile) {
  const Mapping depthwise = map(gemm(12544, 1, 9, "int8", 96), "Coral").value();  // 96 filters of 3 x 3 on a grid of 64 x 64
  EXPECT_EQ(depthwise.tiles, 14) << "seven filters of nine terms fit in 64 rows";
  EXPECT_NEAR(depthwise.tile_ratio, 96 * 9 / (14.0 * 64 * 64), 1e-12);
  EXPECT_EQ(map(gemm(12544, 40, 40, "int8", 96), "Coral").value().tiles, 96) << "of these only one";
  EXPECT_EQ(map(gemm(12544, 1, 9, "int8"), "Coral").value().tiles, 1) << "and there is only one to pack";
}

TEST(Mapping, MoreWorkTakesNoLessTime) {
  for (const char* device : {"MI300X", "H100", "EPYC 9654", "TPU v5e", "jetson_orin_maxn"}) {
    double before = 0;
    for (std::int64_t m = 1; m <= 4096; m *= 2) {
      const double now = seconds(gemm(m, 4096, 4096), device);
      EXPECT_GE(now, before * 0.98) << device << " at " << m;  // tiles may fit better
      before = now;
    }
  }
}

TEST(Mapping, NoEstimateIsBelowTheRoofline) {
  for (const auto& [id, device] : hardware::shipped_registry().devices()) {
    const Kernel kernel = gemm(1000, 1000, 1000, "int8");
    const Work work = work_of(kernel).value();
    const auto mapping = map_kernel(kernel, work, device);
    if (!mapping) continue;
    const LatencyEstimate estimate = theoretical_estimate(work, *mapping, device);
    const double bytes_per_s = mapping->most_bytes_per_s > 0 ? mapping->most_bytes_per_s : mapping->bytes_per_s;
    EXPECT_GE(estimate.lower, std::max(work.flops / mapping->ops_per_s, work.bytes / bytes_per_s)) << id;
    EXPECT_LE(estimate.lower, estimate.seconds) << id;
    EXPECT_GE(estimate.upper, estimate.seconds) << id;
  }
}

TEST(Mapping, AWiderTypeIsNamedWhereItIsUsed) {
  const Mapping mapping = map(gemm(512, 512, 512, "fp16"), "i7-12700K").value();
  EXPECT_EQ(mapping.computed_as, "float32");
  EXPECT_THAT(mapping.reasons, testing::Contains(HasSubstr("computed as float32")));
}

TEST(Mapping, RefusesTypesTheDeviceCannotCompute) {
  EXPECT_EQ(map(gemm(8, 8, 8, "fp32"), "Coral").error().code, core::ErrorCode::unsupported);
  EXPECT_FALSE(map_kernel({OtherShape{"x", 1, 1}, "string"}, {1, 1}, shipped_device("H100")));
}

}  // namespace
}  // namespace aaco::estimation
