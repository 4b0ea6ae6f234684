#include "formats/gpu_metrics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "core/files.h"
#include "core/strings.h"
#include "tests/support/source_dir.h"

namespace aaco::formats {
namespace {

using F = GpuMetricsField;

std::string fixture(const std::string& name) { return *core::read_file(AACO_SOURCE_DIR "/tests/fixtures/gpu_metrics/" + name); }
std::string version_name(int format, int content) { return "v" + std::to_string(format) + "_" + std::to_string(content); }

// Each table was written by make.py with the C ABI's own offsets; its .expected file says what stands in it.
class EachVersion : public ::testing::TestWithParam<std::pair<int, int>> {
 protected:
  std::string name_ = version_name(GetParam().first, GetParam().second);
  std::string bytes_ = fixture(name_ + ".bin");
};

TEST_P(EachVersion, IsDecodedByItsOwnLayout) {
  GpuMetrics metrics;
  ASSERT_TRUE(decode_gpu_metrics(bytes_, metrics));
  EXPECT_EQ(std::pair(metrics.format, metrics.content), GetParam());
  const std::string expected = fixture(name_ + ".expected");
  std::vector<std::string> found;
  for (const GpuMetricsValue& value : metrics.values)
    found.push_back(std::string(to_string(value.field)) + " " + std::to_string(value.index) + " " + std::to_string(value.raw));
  EXPECT_EQ(core::join(found, "\n") + "\n", expected);
  EXPECT_GT(metrics.not_available, 0);
}
TEST_P(EachVersion, RefusesTruncationAtAnyByte) {
  GpuMetrics metrics;
  for (std::size_t size = 0; size < bytes_.size(); ++size)
    EXPECT_FALSE(decode_gpu_metrics(std::string_view(bytes_).substr(0, size), metrics)) << size;
}
TEST_P(EachVersion, IsRefusedWhenItStatesASmallerSizeThanItsLayout) {
  std::string lying = bytes_;
  lying[0] = 16;
  lying[1] = 0;
  GpuMetrics metrics;
  const auto status = decode_gpu_metrics(lying, metrics);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::invalid_input);
}
TEST_P(EachVersion, TrailingBytesAreIgnored) {
  GpuMetrics exact, padded;
  ASSERT_TRUE(decode_gpu_metrics(bytes_, exact));
  ASSERT_TRUE(decode_gpu_metrics(bytes_ + std::string(100, '\0'), padded));
  EXPECT_EQ(exact.values, padded.values);
}
INSTANTIATE_TEST_SUITE_P(GpuMetrics, EachVersion,
                         ::testing::Values(std::pair(1, 0), std::pair(1, 1), std::pair(1, 2), std::pair(1, 3), std::pair(1, 4),
                                           std::pair(1, 5), std::pair(1, 6), std::pair(1, 7), std::pair(1, 8), std::pair(1, 9),
                                           std::pair(2, 0), std::pair(2, 1), std::pair(2, 2), std::pair(2, 3), std::pair(2, 4),
                                           std::pair(3, 0)),
                         [](const auto& version) { return version_name(version.param.first, version.param.second); });

TEST(GpuMetrics, AnUnknownVersionIsRefusedByName) {
  for (const auto& [format, content] : {std::pair(1, 10), {2, 5}, {3, 1}, {4, 0}, {0, 0}, {255, 255}}) {
    const std::string bytes = {'\xff', '\x0f', static_cast<char>(format), static_cast<char>(content)};
    GpuMetrics metrics;
    const auto status = decode_gpu_metrics(bytes + std::string(4092, 'x'), metrics);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, core::ErrorCode::unsupported);
    EXPECT_NE(status.error().message.find("v" + std::to_string(format) + "." + std::to_string(content)), std::string::npos);
    EXPECT_TRUE(metrics.values.empty());
  }
}
TEST(GpuMetrics, SelfDescribingTablesKeepKnownFieldsAndCountOthers) {
  GpuMetrics metrics;
  ASSERT_TRUE(decode_gpu_metrics(fixture("v1_9.bin"), metrics));
  EXPECT_EQ(metrics.unknown_fields, 1);
}
TEST(GpuMetrics, RejectsSelfDescribingTableWithUnknownNumberType) {
  std::string bytes = fixture("v1_9.bin");
  bytes[8 + 2] = static_cast<char>(0xf0);  // the type's four bits
  GpuMetrics metrics;
  EXPECT_FALSE(decode_gpu_metrics(bytes, metrics));
}
TEST(GpuMetrics, ASelfDescribingTableThatClaimsTooManyAttributesIsRefused) {
  std::string bytes = fixture("v1_9.bin");
  bytes[4] = bytes[5] = bytes[6] = bytes[7] = '\xff';
  GpuMetrics metrics;
  EXPECT_FALSE(decode_gpu_metrics(bytes, metrics));
}

TEST(GpuMetrics, UnitsMatchFields) {
  const auto value = [](const char* file, F field) {
    GpuMetrics metrics;
    EXPECT_TRUE(decode_gpu_metrics(fixture(file), metrics));
    const auto* found = metrics.find(field);
    return found ? std::pair(static_cast<double>(found->raw), found->value) : std::pair(-1.0, -1.0);
  };
  const auto expect_unit = [&](const char* file, F field, double unit) {
    const auto [raw, scaled] = value(file, field);
    ASSERT_GE(raw, 0) << to_string(field);
    EXPECT_DOUBLE_EQ(scaled, raw * unit) << to_string(field);
  };
  expect_unit("v1_3.bin", F::temperature_hotspot, 1);
  expect_unit("v1_3.bin", F::socket_power_average, 1);
  expect_unit("v1_3.bin", F::memory_activity, 0.01);
  expect_unit("v1_8.bin", F::energy, 1.0 / 65536);
  expect_unit("v1_8.bin", F::memory_clock, 1e6);
  expect_unit("v1_8.bin", F::pcie_speed, 1e8);
  expect_unit("v1_8.bin", F::firmware_time, 1e-8);
  expect_unit("v2_4.bin", F::temperature_soc, 0.01);
  expect_unit("v2_4.bin", F::gfx_power, 0.001);
  expect_unit("v3_0.bin", F::gfx_activity, 0.0001);
  expect_unit("v3_0.bin", F::dram_read_rate, 1e6);
}

TEST(GpuMetrics, ThrottleBitsAreClassified) {
  EXPECT_EQ(throttle_bits(0), ThrottleBits{});
  EXPECT_EQ(throttle_bits(1ULL << 2), (ThrottleBits{.power = true}));
  EXPECT_EQ(throttle_bits(1ULL << 22), (ThrottleBits{.current = true}));
  EXPECT_EQ(throttle_bits(1ULL << 36 | 1ULL << 47), (ThrottleBits{.thermal = true}));
  EXPECT_EQ(throttle_bits(1ULL << 57), (ThrottleBits{.other = true}));
  EXPECT_EQ(throttle_bits(~0ULL), (ThrottleBits{true, true, true, true}));
}
TEST(GpuMetrics, FieldNamesAreUnique) {
  std::map<std::string_view, int> names;
  for (int i = 0; i < static_cast<int>(F::field_count); ++i)
    EXPECT_EQ(++names[to_string(static_cast<F>(i))], 1) << to_string(static_cast<F>(i));
  EXPECT_EQ(to_string(F::field_count), "");
}

// Tables captured from machines by others; what they must say stands beside them in the same capture (hwmon).
std::string captured(const char* machine) {
  const char* root = std::getenv("AACO_REAL_DATA");
  const auto path = std::string(root != nullptr ? root : AACO_SOURCE_DIR "/../shared/data") + "/traces/sysfs/LACT/amd/" +
                    machine + "/card1/device/gpu_metrics";
  return core::read_file(path).value_or("");
}
TEST(GpuMetrics, ARealPhoenixAgreesWithItsOtherSensors) {
  const std::string bytes = captured("phoenix");
  if (bytes.empty()) GTEST_SKIP() << "skipped, no real data";
  GpuMetrics metrics;
  ASSERT_TRUE(decode_gpu_metrics(bytes, metrics));
  EXPECT_EQ(metrics.find(F::temperature_gfx)->value, 25.0);               // temp1_input: 25000
  EXPECT_EQ(metrics.find(F::gfx_clock_average)->value, 800e6);            // freq1_input: 800000000
  EXPECT_NEAR(metrics.find(F::socket_power_average)->value, 3.142, 0.3);  // power1_input: 3142000
  EXPECT_EQ(metrics.find(F::cpu_power), nullptr);                         // marked as not available
}
TEST(GpuMetrics, ARealNavi33AgreesWithItsOtherSensors) {
  const std::string bytes = captured("rx7600s");
  if (bytes.empty()) GTEST_SKIP() << "skipped, no real data";
  GpuMetrics metrics;
  ASSERT_TRUE(decode_gpu_metrics(bytes, metrics));
  EXPECT_EQ(metrics.find(F::temperature_edge)->value, 53);
  EXPECT_EQ(metrics.find(F::temperature_memory)->value, 60);
  EXPECT_EQ(metrics.find(F::socket_power_average)->value, 1);
  EXPECT_EQ(metrics.find(F::memory_clock)->value, 96e6);
  EXPECT_EQ(metrics.find(F::pcie_width)->value, 8);
  EXPECT_EQ(metrics.find(F::pcie_speed)->value, 16e9);
}

}  // namespace
}  // namespace aaco::formats
