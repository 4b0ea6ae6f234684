#include <gtest/gtest.h>

#include <cstdlib>

#include "core/environment.h"
#include "core/subprocess.h"
#include "laboratory/benchmarks.h"
#include "tests/support/fake_machine.h"
#include "tests/support/source_dir.h"

namespace aaco::laboratory {
namespace {

constexpr std::string_view kProduct = R"(schema: 1
suite: product
visit_ms: 5
kernels:
  - {kernel: gemm, kind: gemm, sites: [{m: 1, n: 8, k: 4}]}
)";

TEST(OnPyTorch, MeasuresTheTimeAndInTheFirstRoundThePowerOfAnOperator) {
  if (!core::find_program("python3", core::Environment::of_process().get("PATH").value_or(""))) GTEST_SKIP() << "no python3 here";
  ::setenv("PYTHONPATH", AACO_SOURCE_DIR "/tests/fixtures/torch_stand_in", 1);
  const aaco::testing::FakeMachine machine("epyc_mi300x", {"sys/class/drm"});
  machine.write("/sys/class/drm/card2/device/hwmon/hwmon5/power1_average", "620000000\n");
  PowerMeter meter = PowerMeter::open({machine.root()}, PowerMeter::Of::gpu).value();
  const std::atomic<bool> stop{false};
  PyTorchOptions options;
  options.python = "python3";
  options.share = AACO_SOURCE_DIR;
  options.gpu = true;
  options.stop = &stop;
  options.power = &meter;
  const auto process = on_pytorch(options);
  ASSERT_TRUE(process) << process.error().text();
  EXPECT_EQ(process->device_name, "AMD Instinct MI300X");
  const BenchmarkSuite suite = parse_suite(kProduct, "product.yaml").value();
  BenchmarkVisit first, second;
  first.one = second.one = suite.cases[0];
  second.round = 1;
  ASSERT_TRUE(process->visitor(suite, first));
  ASSERT_TRUE(process->visitor(suite, second));
  EXPECT_GE(first.calls, 50) << "five times at least, each of ten calls that fill 0.2 ms";
  EXPECT_EQ(first.calls % 10, 0);
  EXPECT_EQ(first.median_ns, 20'000) << "the stand-in's clock counts 10 us for an operand";
  ASSERT_TRUE(first.power_watts);
  EXPECT_NEAR(*first.power_watts, 620, 62);
  EXPECT_EQ(second.power_watts, std::nullopt);
}

}  // namespace
}  // namespace aaco::laboratory
