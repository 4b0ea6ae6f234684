#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/die.h"
#include "hardware/registry.h"
#include "tests/support/shipped_device.h"

// The entries of data/hardware, and the names they are found by.
namespace aaco::hardware {
namespace {

using testing::HasSubstr;

TEST(ShippedHardware, EveryEntryKeepsItsInvariants) {
  for (const auto& [id, device] : shipped_registry().devices())
    for (const Violation& violation : check_invariants(device)) ADD_FAILURE() << device.where << ": " << violation.text;
}

TEST(ShippedHardware, FilesAreNamedAfterTheirIds) {
  for (const auto& [id, device] : shipped_registry().devices())
    EXPECT_THAT(device.where, HasSubstr("/" + id + ".yaml:")) << "one device, one file of its name";
}

TEST(ShippedHardware, EveryPeakHasItsInputs) {
  // Where a maker publishes units and clock, the rate a unit and clock is there too, so that the product is checked.
  for (const auto& [id, device] : shipped_registry().devices())
    for (const Engine& engine : device.engines)
      for (const EngineRate& rate : engine.rates)
        EXPECT_TRUE(!engine.units || !engine.clock_hz || rate.ops_per_clock) << id << ' ' << rate.dtype;
}

TEST(ShippedHardware, EveryRateHasItsSource) {
  for (const auto& [id, device] : shipped_registry().devices())
    for (const Engine& engine : device.engines)
      for (const EngineRate& rate : engine.rates) EXPECT_FALSE(rate.source.empty()) << id << ' ' << rate.dtype;
}

TEST(ShippedHardware, DensePeaksAndBandwidthsMatchPublishedValues) {
  const DeviceRegistry& registry = shipped_registry();
  const auto peak = [&](const char* name, const char* dtype) {
    return registry.find(name).value().peak_ops_per_s(dtype).value() / 1e12;
  };
  EXPECT_NEAR(peak("MI210", "float16"), 181, 1);
  EXPECT_NEAR(peak("MI250X", "bfloat16"), 383, 1);
  EXPECT_NEAR(peak("MI300X", "bfloat16"), 1307, 1);
  EXPECT_NEAR(peak("MI300X", "float8e4m3fnuz"), 2615, 1);
  EXPECT_NEAR(peak("MI355X", "float4"), 10066, 40);
  EXPECT_NEAR(peak("A100", "bfloat16"), 312, 1);
  EXPECT_NEAR(peak("H100", "bfloat16"), 989, 1);
  EXPECT_NEAR(peak("L4", "bfloat16"), 121, 1);
  EXPECT_NEAR(peak("B200", "float8"), 4500, 10);
  EXPECT_NEAR(peak("TPU v5e", "bfloat16"), 197, 1);
  EXPECT_NEAR(peak("EPYC 9754", "float32"), 12.7, 0.1);
  EXPECT_NEAR(registry.find("L4").value().memory.bytes_per_s->value, 300e9, 1e9);
  EXPECT_NEAR(registry.find("H200").value().memory.bytes_per_s->value, 4800e9, 1e9);
}

TEST(ShippedHardware, EveryMeasurementNameIsUnambiguous) {
  const DeviceRegistry& registry = shipped_registry();
  for (const char* name : {"A100-SXM-80GB",
                           "H100-SXM-80GB",
                           "H200-SXM-141GB",
                           "MI100",
                           "MI210",
                           "MI300X",
                           "MI308X",
                           "NVIDIA_A100-PCIE-40GB",
                           "NVIDIA_A100-SXM4-40GB",
                           "NVIDIA_A100_80GB_PCIe",
                           "Tesla_P100-PCIE-16GB",
                           "Tesla_P4",
                           "Tesla_T4",
                           "Tesla_V100-PCIE-32GB",
                           "i7_12700K",
                           "intel_core_i7_12700k",
                           "jetson_orin_15w",
                           "jetson_orin_agx_15w",
                           "jetson_orin_maxn",
                           "ryzen_9_8945hs",
                           "NVIDIA_H100_80GB_HBM3",
                           "NVIDIA_L4",
                           "AMD_Instinct_MI250",
                           "Tesla V100-DGXS-32GB",
                           "NVIDIA A100-PG509-200",
                           "AMD Instinct MI300X VF"})
    EXPECT_TRUE(registry.find(name)) << name;
  EXPECT_EQ(registry.id_of("i7_12700K"), registry.id_of("intel_core_i7_12700k"));
  EXPECT_EQ(registry.id_of("jetson_orin_15w"), "nvidia_jetson_agx_orin_64gb@15w");
}

TEST(ShippedHardware, AStateHasItsOwnPeaks) {
  const DeviceRegistry& registry = shipped_registry();
  const Device slow = registry.find("jetson_orin_agx_15w").value();
  EXPECT_EQ(slow.state, "15w");
  EXPECT_NEAR(slow.peak_ops_per_s("float16").value(), 6 * 2048 * 420.75e6, 1e9);
  EXPECT_EQ(slow.power.board_watts->value, 15);
  EXPECT_TRUE(registry.find("nvidia_jetson_agx_orin_64gb@15W"));
  EXPECT_THAT(registry.find("MI300X@turbo").error().text(), HasSubstr("no power state"));
}

TEST(ShippedHardware, WorkOnTwoDieBoardRunsOnOneDevice) {
  const Device board = shipped_registry().find("MI250X").value();
  const Device die = as_shown(board).value();
  EXPECT_EQ(die.state, kOneDie);
  EXPECT_NEAR(die.peak_ops_per_s("bfloat16").value() * 2, board.peak_ops_per_s("bfloat16").value(), 1e9);
  EXPECT_EQ(die.memory.bytes_per_s->value * 2, board.memory.bytes_per_s->value);
  EXPECT_EQ(die.memory.bytes->value * 2, board.memory.bytes->value);
  EXPECT_EQ(die.last_level()->instances * 2, board.last_level()->instances);
  EXPECT_EQ(die.last_level()->bytes_per_s->value * 2, board.last_level()->bytes_per_s->value);
  EXPECT_EQ(as_shown(die).value().memory.bytes->value, die.memory.bytes->value);
  // Eight dies that are one device, and a device in a power state, stay as they are.
  EXPECT_TRUE(as_shown(shipped_registry().find("MI300X").value()).value().state.empty());
  EXPECT_EQ(as_shown(shipped_registry().find("jetson_orin_15w").value()).value().state, "15w");
}

TEST(ShippedHardware, AmbiguousTargetIsResolvedByUnits) {
  const DeviceRegistry& registry = shipped_registry();
  EXPECT_EQ(registry.match({"gfx942", "", 80, {}}).value().id, "amd_instinct_mi308x_192gb");
  EXPECT_EQ(registry.match({"", "gfx90a", 104, 64.0 * (1 << 30)}).value().id, "amd_instinct_mi210_64gb");
  EXPECT_EQ(registry.match({"AMD Instinct MI300X", "gfx942", {}, {}}).value().id, "amd_instinct_mi300x_192gb");
  EXPECT_THAT(registry.match({"gfx90a", "", {}, {}}).error().text(), HasSubstr("matches several devices"));
  EXPECT_THAT(registry.match({"gfx000", "", {}, {}}).error().text(), HasSubstr("no registry entry matches"));
  EXPECT_THAT(registry.find("gfx942").error().text(), HasSubstr("several devices"));
  EXPECT_THAT(registry.find("MI300Y").error().text(), HasSubstr("did you mean"));
}

TEST(ShippedHardware, WordsMatchUniqueDevice) {
  const DeviceRegistry& registry = shipped_registry();
  EXPECT_EQ(registry.find("9754").value().id, "amd_epyc_9754_128c");
  EXPECT_EQ(registry.find("8490H").value().id, "intel_xeon_8490h_60c");
  EXPECT_EQ(registry.find("Intel(R) Core(TM) i7-12700K").value().id, "intel_core_i7_12700k_12c");
  EXPECT_EQ(registry.find("A100").value().id, "nvidia_a100_sxm4_80gb") << "a name of its own";
  EXPECT_THAT(registry.find("A100 80GB").error().text(), HasSubstr("nvidia_a100_pcie_80gb, nvidia_a100_sxm4_80gb"));
  EXPECT_FALSE(registry.find("300")) << "a part of a word is none";
  EXPECT_FALSE(registry.find(" -/"));
}

TEST(ShippedHardware, AmbiguousNameIsResolvedByUnitsAndMemoryOrListed) {
  const DeviceRegistry& registry = shipped_registry();
  constexpr double kGiB = 1 << 30;
  for (const char* name : {"AMD Instinct MI250X / MI250", "Aldebaran/MI200 [Instinct MI250X/MI250]"})
    EXPECT_THAT(registry.find(name).error().text(),
                HasSubstr("several devices: amd_instinct_mi250_128gb, amd_instinct_mi250x_128gb"));
  const std::string both = "AMD Instinct MI250X/MI250";
  EXPECT_EQ(registry.match({both, "gfx90a", 110, 64 * kGiB}).value().id, "amd_instinct_mi250x_128gb");
  EXPECT_EQ(registry.match({both, "gfx90a", 104, 64 * kGiB}).value().id, "amd_instinct_mi250_128gb");
  EXPECT_EQ(registry.match({both, "", 104, {}}).value().id, "amd_instinct_mi250_128gb");
  EXPECT_THAT(registry.match({both, "", {}, {}}).error().text(), HasSubstr("matches several devices"));
  for (const char* name : {"orin", "Orin (nvgpu)"})
    EXPECT_THAT(registry.find(name).error().text(),
                testing::AllOf(HasSubstr("nvidia_jetson_agx_orin_64gb"), HasSubstr("nvidia_jetson_orin_nx_8gb")));
  EXPECT_EQ(registry.match({"Orin", "sm_87", 8, 15.3 * kGiB}).value().id, "nvidia_jetson_orin_nx_16gb");
  EXPECT_EQ(registry.match({"Orin", "", 14, {}}).value().id, "nvidia_jetson_agx_orin_32gb");
  EXPECT_THAT(registry.match({"NVIDIA H100 NVL", "", {}, {}}).error().text(), HasSubstr("no registry entry matches"));
  EXPECT_EQ(registry.match({"NVIDIA H200 NVL", "sm_90", 132, 140.4 * kGiB}).value().id, "nvidia_h200_sxm5_141gb");
}

TEST(ShippedHardware, DriverNamesMatchDevices) {
  const DeviceRegistry& registry = shipped_registry();
  const std::pair<const char*, const char*> printed[] = {
      {"NVIDIA H100 80GB HBM3", "nvidia_h100_sxm5_80gb"},
      {"NVIDIA A100-SXM4-80GB", "nvidia_a100_sxm4_80gb"},
      {"NVIDIA A100 80GB PCIe", "nvidia_a100_pcie_80gb"},
      {"Tesla V100-SXM2-16GB", "nvidia_v100_sxm2_16gb"},
      {"AMD Instinct MI300X OAM", "amd_instinct_mi300x_192gb"},
      {"AMD INSTINCT MI250 (MCM) OAM AC MBA", "amd_instinct_mi250_128gb"},
      {"Radeon RX 7900 XTX", "amd_radeon_rx7900xtx_24gb"},
      {"Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]", "amd_radeon_rx7900xtx_24gb"},
      {"NVIDIA Jetson AGX Orin Developer Kit", "nvidia_jetson_agx_orin_64gb"},
      {"TPU v5 lite", "google_tpu_v5e_16gb"},
      {"AMD EPYC 9654 96-Core Processor", "amd_epyc_9654_96c"},
      {"Intel(R) Xeon(R) Platinum 8490H", "intel_xeon_8490h_60c"},
      {"Intel(R) Xeon(R) w9-3495X", "intel_xeon_w9_3495x_56c"},
      {"AMD Ryzen 9 8945HS w/ Radeon 780M Graphics     ", "amd_ryzen_9_8945hs_8c"}};
  for (const auto& [name, id] : printed) EXPECT_EQ(registry.find(name).value().id, id) << name;
  EXPECT_THAT(registry.find("MI300").error().text(), HasSubstr("'amd_instinct_mi300a_128gb' or 'amd_instinct_mi300x_192gb'"));
  EXPECT_THAT(registry.find("RTX 4090").error().text(), HasSubstr("`aaco hardware ls` lists the devices"));
  EXPECT_THAT(registry.find("Tesla P100-SXM2-16GB").error().text(), HasSubstr("did you mean 'nvidia_p100_pcie_16gb'"));
}

TEST(ShippedHardware, FiguresMatchDataSheets) {
  const DeviceRegistry& registry = shipped_registry();
  const auto peak = [&](const char* name, const char* dtype) {
    return registry.find(name).value().peak_ops_per_s(dtype).value() / 1e12;
  };
  EXPECT_NEAR(peak("H100", "float64"), 67, 0.2) << "on tensor cores";
  EXPECT_NEAR(peak("H200", "float64"), 67, 0.2);
  EXPECT_NEAR(peak("H100 PCIe", "float64"), 51.2, 0.1);
  EXPECT_NEAR(peak("L40S", "int4"), 733, 1);
  EXPECT_NEAR(peak("T4", "float64"), 0.254, 0.001);
  EXPECT_NEAR(peak("MI250X", "int4"), 383, 1);
  EXPECT_EQ(registry.find("H200").value().memory.bytes->value, 141.0 * (1 << 30));
  EXPECT_EQ(registry.find("MI250X").value().power.board_watts->value, 500);
  EXPECT_EQ(registry.find("MI250").value().device_link->bytes_per_s.value, 300e9);
  EXPECT_EQ(registry.find("Xeon 8280").value().device_link->bytes_per_s.value, 62.4e9);
}

}  // namespace
}  // namespace aaco::hardware
