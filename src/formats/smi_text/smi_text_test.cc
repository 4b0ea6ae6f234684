#include "formats/smi_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/files.h"
#include "formats/smi_text/cells.h"
#include "tests/support/source_dir.h"

namespace aaco::formats::smi_text {
namespace {

// "metric@device" -> value of the last snapshot.
std::map<std::string, double> values(std::string_view text, Tool tool) {
  const auto log = decode(text);
  EXPECT_TRUE(log.has_value()) << log.error().text();
  std::map<std::string, double> found;
  if (!log) return found;
  EXPECT_EQ(log->tool, tool);
  for (const Reading& reading : log->readings)
    found[std::string(reading.metric) + "@" + std::to_string(reading.device)] = reading.value;
  return found;
}
using Values = std::map<std::string, double>;

TEST(SmiText, AmdMetricSections) {
  EXPECT_EQ(values(R"($ amd-smi metric
GPU: 0
    USAGE:
        GFX_ACTIVITY: 50 %
        UMC_ACTIVITY: N/A
        VCN_ACTIVITY: [0 %, N/A,
            N/A, N/A]
    POWER:
        SOCKET_POWER: 248 W
        GFX_VOLTAGE: 768 mV
        THROTTLE_STATUS: UNTHROTTLED
    CLOCK:
        GFX_0:
            CLK: 113 MHz
            MIN_CLK: 500 MHz
        GFX_1:
            CLK: 200 MHz
        MEM_0:
            CLK: 900 MHz
    TEMPERATURE:
        EDGE: N/A
        HOTSPOT: 55 °C
    PCIE:
        WIDTH: 16
        SPEED: 32 GT/s
        BANDWIDTH: 16 Mb/s
    ENERGY:
        TOTAL_ENERGY_CONSUMPTION: 1000.5 J
    MEM_USAGE:
        TOTAL_VRAM: 196300 MB

GPU: 1
    POWER:
        SOCKET_POWER: 11 W
)",
                   Tool::amd_smi),
            (Values{{"gpu.use_ratio@0", 0.5},
                    {"gpu.power_watts@0", 248},
                    {"gpu.voltage_volts@0", 0.768},
                    {"gpu.clock_hz@0", 113e6},
                    {"gpu.memory_clock_hz@0", 900e6},
                    {"gpu.temperature_celsius@0", 55},
                    {"gpu.pcie_width_lanes@0", 16},
                    {"gpu.pcie_speed_transfers_per_second@0", 32e9},
                    {"gpu.pcie_bytes_per_second@0", 2e6},
                    {"gpu.energy_joules@0", 1000.5},
                    {"gpu.vram_total_bytes@0", 196300.0 * 1048576},
                    {"gpu.power_watts@1", 11}}));
}

TEST(SmiText, AmdMonitorTable) {
  EXPECT_EQ(values("$ amd-smi monitor\nGPU  POWER  GPU_TEMP  MEM_TEMP  GFX_UTIL  GFX_CLOCK  VRAM_USED   PCIE_BW\n"
                   "  0  248 W     55 °C       N/A      99 %   1920 MHz     283 MB  N/A Mb/s\n"
                   " 10  211 W     51 °C     45 °C       0 %    114 MHz     283 MB  N/A Mb/s\n\n"
                   "PROCESS INFO:\nGPU                  NAME      PID  GTT_MEM\n  0                   rvs  1564865    0.0 B\n",
                   Tool::amd_smi),
            (Values{{"gpu.power_watts@0", 248},
                    {"gpu.temperature_celsius@0", 55},
                    {"gpu.use_ratio@0", 0.99},
                    {"gpu.clock_hz@0", 1920e6},
                    {"gpu.vram_used_bytes@0", 283.0 * 1048576},
                    {"gpu.power_watts@10", 211},
                    {"gpu.temperature_celsius@10", 51},
                    {"gpu.temperature_memory_celsius@10", 45},
                    {"gpu.use_ratio@10", 0},
                    {"gpu.clock_hz@10", 114e6},
                    {"gpu.vram_used_bytes@10", 283.0 * 1048576}}));
}

TEST(SmiText, AmdJson) {
  EXPECT_EQ(values(R"(amd-smi metric -p --json
[{"gpu": 0, "power": {"socket_power": {"value": 10, "unit": "W"}, "gfx_voltage": {"value": 6, "unit": "mV"}, "throttle_status": "UNTHROTTLED"}},
 {"gpu": 1, "power": {"socket_power": "N/A"}, "usage": {"gfx_activity": {"value": 7, "unit": "%"}}}])",
                   Tool::amd_smi),
            (Values{{"gpu.power_watts@0", 10}, {"gpu.voltage_volts@0", 0.006}, {"gpu.use_ratio@1", 0.07}}));
  EXPECT_EQ(values(R"({"gpu_data":[{"gpu": 3, "power": {"socket_power": {"value": 10, "unit": "W"}}}]})", Tool::amd_smi),
            (Values{{"gpu.power_watts@3", 10}}));
}

TEST(SmiText, AmdCsvWithTimes) {
  const auto log = decode(
      "timestamp,gpu,power_usage,hotspot_temperature,gfx,gfx_clk,vram_used\n1714566896,0,248,55,99,1920,283\n1714566897,0,249,N/"
      "A,99,1920,283\n");
  ASSERT_TRUE(log.has_value()) << log.error().text();
  ASSERT_EQ(log->readings.size(), 9u);
  EXPECT_EQ(log->readings[0].realtime_ns, 1714566896000000000);
  EXPECT_EQ(log->readings[8].snapshot, 1);
  EXPECT_EQ(log->not_available, 1);
}

constexpr std::string_view kConcise =
    R"(============================ ROCm System Management Interface ============================
====================================== Concise Info ======================================
Device  Node  IDs              Temp        Power     Partitions          SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
        (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)
==========================================================================================
0       4     0x74a0,   50375  48.0°C      110.0W    NPS1, SPX, 0        98Mhz   1300Mhz  0%   auto  550.0W  0%     5%
1       5     0x74a0,   20890  N/A         113.0W    NPS1, SPX, 0        99Mhz   1200Mhz  0%   auto  550.0W  0%     0%
================================== End of ROCm SMI Log ===================================
)";

TEST(SmiText, RocmConciseTable) {
  EXPECT_EQ(values(kConcise, Tool::rocm_smi), (Values{{"gpu.temperature_celsius@0", 48},
                                                      {"gpu.power_watts@0", 110},
                                                      {"gpu.clock_hz@0", 98e6},
                                                      {"gpu.memory_clock_hz@0", 1300e6},
                                                      {"gpu.power_cap_watts@0", 550},
                                                      {"gpu.use_ratio@0", 0.05},
                                                      {"gpu.power_watts@1", 113},
                                                      {"gpu.clock_hz@1", 99e6},
                                                      {"gpu.memory_clock_hz@1", 1200e6},
                                                      {"gpu.power_cap_watts@1", 550},
                                                      {"gpu.use_ratio@1", 0}}));
}

// Two lines per GPU: rocm-smi of ROCm 6.0 to 6.2.
constexpr std::string_view kConciseModels =
    R"(========================================= ROCm System Management Interface =========================================
=================================================== Concise Info ===================================================
Device  [Model : Revision]    Temp        Power     Partitions      SCLK     MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
        Name (20 chars)       (Junction)  (Socket)  (Mem, Compute)
====================================================================================================================
0       [0x74a1 : 0x00]       39.0°C      138.0W    NPS1, SPX       132Mhz   900Mhz   0%   auto  750.0W    0%   7%
        AMD Instinct MI300X
1       [0x0b0c : 0x00]       N/A         140.0W    NPS1, SPX       131Mhz   900Mhz   0%   auto  750.0W    0%   0%
        AMD Instinct MI300X
====================================================================================================================
=============================================== End of ROCm SMI Log ================================================
)";

TEST(SmiText, RocmConciseTableWithModels) {
  EXPECT_TRUE(is_smi_text(kConciseModels));
  EXPECT_EQ(values(kConciseModels, Tool::rocm_smi), (Values{{"gpu.temperature_celsius@0", 39},
                                                            {"gpu.power_watts@0", 138},
                                                            {"gpu.clock_hz@0", 132e6},
                                                            {"gpu.memory_clock_hz@0", 900e6},
                                                            {"gpu.power_cap_watts@0", 750},
                                                            {"gpu.use_ratio@0", 0.07},
                                                            {"gpu.power_watts@1", 140},
                                                            {"gpu.clock_hz@1", 131e6},
                                                            {"gpu.memory_clock_hz@1", 900e6},
                                                            {"gpu.power_cap_watts@1", 750},
                                                            {"gpu.use_ratio@1", 0}}));
  const auto log = decode(kConciseModels);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->devices.at(1).at("name"), "AMD Instinct MI300X");
}
TEST(SmiText, RocmConciseTableCutInsideABracketGivesNothing) {
  const auto cut = kConciseModels.substr(0, kConciseModels.find(" : 0x00"));
  const auto log = decode(cut);
  EXPECT_TRUE(!log.has_value() || log->readings.empty());
}

TEST(SmiText, RocmLinesJsonAndCsv) {
  const Values expected = {{"gpu.temperature_edge_celsius@0", 33},
                           {"gpu.power_watts@0", 38.5},
                           {"gpu.use_ratio@0", 0.12},
                           {"gpu.vram_total_bytes@0", 1000}};
  EXPECT_EQ(values("======= ROCm System Management Interface =======\nGPU[0]\t\t: Temperature (Sensor edge) (C): 33.0\n"
                   "GPU[0]\t\t: Average Graphics Package Power (W): 38.5\nGPU[0]\t\t: GPU use (%): 12\nGPU[0]\t\t: VRAM Total "
                   "Memory (B): 1000\n",
                   Tool::rocm_smi),
            expected);
  EXPECT_EQ(
      values(
          R"x({"card0": {"Temperature (Sensor edge) (C)": "33.0", "Average Graphics Package Power (W)": "38.5", "GPU use (%)": "12",
 "VRAM Total Memory (B)": "1000"}, "system": {"Driver version": "6"}})x",
          Tool::rocm_smi),
      expected);
  EXPECT_EQ(values("device,Temperature (Sensor edge) (C),Average Graphics Package Power (W),GPU use (%),VRAM Total Memory "
                   "(B)\ncard0,33.0,38.5,12,1000\n",
                   Tool::rocm_smi),
            expected);
  EXPECT_EQ(values("GPU[1]\t\t: sclk clock level: 1: (1500Mhz)\n", Tool::rocm_smi), (Values{{"gpu.clock_hz@1", 1.5e9}}));
}

TEST(SmiText, RocmLinesOfTwoDevicesTurnByTurn) {
  const auto log =
      decode("GPU[0]\t: GPU use (%): 1\nGPU[1]\t: GPU use (%): 2\nGPU[0]\t: GPU use (%): 3\nGPU[1]\t: GPU use (%): 4\n");
  ASSERT_TRUE(log.has_value());
  ASSERT_EQ(log->readings.size(), 4u);
  EXPECT_EQ(log->readings[1].snapshot, 0);
  EXPECT_EQ(log->readings[3].device, 1);
  EXPECT_EQ(log->readings[3].snapshot, 1);
}

TEST(SmiText, NvidiaBoxes) {
  EXPECT_EQ(values(R"(Wed May  1 12:34:56 2024
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.129.03             Driver Version: 535.129.03   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|=========================================+======================+======================|
|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                    0 |
| N/A   34C    P0              67W / 400W |   1234MiB / 40960MiB |     25%      Default |
|                                         |                      |             Disabled |
+-----------------------------------------+----------------------+----------------------+
)",
                   Tool::nvidia_smi),
            (Values{{"gpu.temperature_celsius@0", 34},
                    {"gpu.power_watts@0", 67},
                    {"gpu.power_cap_watts@0", 400},
                    {"gpu.vram_used_bytes@0", 1234.0 * 1048576},
                    {"gpu.vram_total_bytes@0", 40960.0 * 1048576},
                    {"gpu.use_ratio@0", 0.25}}));
}

TEST(SmiText, NvidiaQuery) {
  const auto log = decode(
      "timestamp, uuid, power.draw [W], utilization.gpu [%], memory.used [MiB], temperature.gpu, clocks.sm [MHz]\n"
      "2024/05/01 12:34:56.789, GPU-a, 67.50 W, 25 %, 1234 MiB, 34, 210 MHz\n"
      "2024/05/01 12:34:56.790, GPU-b, [N/A], 0 %, 0 MiB, 30, 210 MHz\n");
  ASSERT_TRUE(log.has_value()) << log.error().text();
  EXPECT_EQ(log->tool, Tool::nvidia_smi);
  EXPECT_EQ(log->readings[0].value, 67.5);
  EXPECT_EQ(log->readings[0].realtime_ns, 1714566896789000000);
  EXPECT_EQ(log->readings.back().device, 1);
  EXPECT_EQ(log->not_available, 1);
  EXPECT_EQ(log->devices.at(1).at("uuid"), "GPU-b");
  EXPECT_EQ(values("index, power.draw [W], memory.used [MiB]\n3, 67.50, 1234\n", Tool::nvidia_smi),
            (Values{{"gpu.power_watts@3", 67.5}, {"gpu.vram_used_bytes@3", 1234.0 * 1048576}}));
}

TEST(SmiText, NvidiaSectionsAndDmon) {
  EXPECT_EQ(values(R"(
==============NVSMI LOG==============

Timestamp                                 : Wed May  1 12:34:56 2024
Attached GPUs                             : 1
GPU 00000000:07:00.0
    Product Name                          : NVIDIA A100
    FB Memory Usage
        Total                             : 40960 MiB
        Used                              : 1 MiB
    BAR1 Memory Usage
        Used                              : 2 MiB
    Utilization
        Gpu                               : 5 %
        Memory                            : 0 %
    Temperature
        GPU Current Temp                  : 34 C
        Memory Current Temp               : N/A
    GPU Power Readings
        Power Draw                        : 67.00 W
    Clocks
        SM                                : 210 MHz
        Memory                            : 1215 MHz
    Max Clocks
        SM                                : 1410 MHz
)",
                   Tool::nvidia_smi),
            (Values{{"gpu.vram_total_bytes@0", 40960.0 * 1048576},
                    {"gpu.vram_used_bytes@0", 1048576},
                    {"gpu.use_ratio@0", 0.05},
                    {"gpu.memory_use_ratio@0", 0},
                    {"gpu.temperature_celsius@0", 34},
                    {"gpu.power_watts@0", 67},
                    {"gpu.clock_hz@0", 210e6},
                    {"gpu.memory_clock_hz@0", 1215e6}}));
  EXPECT_EQ(values("#Date       Time        gpu   pwr gtemp mtemp    sm   mem  mclk  pclk\n#YYYYMMDD   HH:MM:SS    Idx     W     "
                   "C     C     %     %   MHz   MHz\n"
                   " 20240501   12:34:56      0    67    34     -     5     0  1215   210\n",
                   Tool::nvidia_smi),
            (Values{{"gpu.power_watts@0", 67},
                    {"gpu.temperature_celsius@0", 34},
                    {"gpu.use_ratio@0", 0.05},
                    {"gpu.memory_use_ratio@0", 0},
                    {"gpu.memory_clock_hz@0", 1215e6},
                    {"gpu.clock_hz@0", 210e6}}));
}

TEST(SmiText, Times) {
  EXPECT_EQ(realtime_ns("1714566896.5"), 1714566896500000000);
  EXPECT_EQ(realtime_ns("2024-05-01T12:34:56Z"), 1714566896000000000);
  EXPECT_EQ(realtime_ns("Wed May  1 12:34:56 2024"), 1714566896000000000);
  for (const char* text : {"", "12", "2024/13/01 1:2:3", "2024/02/30 01:02:03", "2024/05/01 25:00:00", "2024/05/01", "yesterday",
                           "T", "99999999999999999999"})
    EXPECT_EQ(realtime_ns(text), std::nullopt) << text;
}

TEST(SmiText, Refusals) {
  for (const char* text : {"", "hello", "{}", "[]", "[{\"gpu\": 0}]", "GPU,NAME\n0,x\n", "a,b,c\n1,2,3\n", "GPU: x\n    POWER:\n",
                           "{\"traceEvents\":[]}", "# comment\n1 2 3\n", "[{\"gpu\": 0, \"power\": {\"unit\"",
                           "| NVIDIA-SMI | x |\n", "\"Kernel_Name\",\"Start_Timestamp\"\n\"k\",1\n"})
    EXPECT_FALSE(decode(text).has_value()) << text;
}

TEST(SmiText, TruncationNeverYieldsWrongValues) {
  for (std::size_t size = 0; size < kConcise.size(); ++size) {
    const auto log = decode(kConcise.substr(0, size));
    if (!log) continue;
    for (const Reading& reading : log->readings)
      EXPECT_TRUE(reading.metric != "gpu.power_cap_watts" || reading.value == 550) << size;
  }
}

// Every shared block with values of a GPU's state gives readings in believable ranges.
TEST(SmiText, RealBlocks) {
  const char* set = std::getenv("AACO_REAL_DATA");
  const std::string root = core::join_path(set != nullptr ? set : AACO_SOURCE_DIR "/../shared/data", "traces/smi_text");
  std::error_code none;
  int with_readings = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root, none)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".txt") continue;
    const auto text = core::read_file(entry.path().string());
    ASSERT_TRUE(text.has_value());
    const auto log = decode(*text);
    if (!log || log->readings.empty()) continue;
    SCOPED_TRACE(entry.path().string());
    ++with_readings;
    EXPECT_EQ(log->not_understood, 0);
    for (const Reading& reading : log->readings) {
      const bool believable = reading.metric == "gpu.power_watts"        ? reading.value > 0 && reading.value < 2000
                              : reading.metric.ends_with("_ratio")       ? reading.value >= 0 && reading.value <= 1
                              : reading.metric == "gpu.clock_hz"         ? reading.value > 1e7 && reading.value < 4e9
                              : reading.metric == "gpu.vram_total_bytes" ? reading.value > 1e9 && reading.value < 1e12
                                                                         : true;
      EXPECT_TRUE(believable) << reading.metric << ' ' << reading.value;
    }
  }
  if (with_readings == 0) GTEST_SKIP() << "skipped, no real data";
  EXPECT_GE(with_readings, 8);
}

TEST(SmiText, NonRowLinesAreCounted) {
  const std::string header = "timestamp, index, name, power.draw [W]\n";
  const auto row = [](const char* second, const char* watts) {
    return std::string("2025/06/01 10:00:") + second + ".123, 0, NVIDIA H100, " + watts + "\n";
  };
  const auto log = decode(header + row("00", "301.25 W") + row("01", "301,25 W") + "Unable to determine the device handle\n" +
                          header + row("02", "300.00 W") + "2025/06/01 10:0");
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->readings.size(), 2U);
  EXPECT_EQ(log->unread_lines, 3);  // the comma, the message and the cut; not the second header
  const auto table = decode("# gpu   pwr\n# Idx     W\n    0   120\n    0\n# gpu   pwr\n# Idx     W\n    0   121\n");
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->readings.size(), 2U);
  EXPECT_EQ(table->unread_lines, 1);
  const auto monitor =
      decode("GPU  POWER  GPU_TEMP\n  0  199 W    40 °C\n  1  199 W\n\nPROCESS INFO:\nGPU  NAME  PID\n  0  rvs  15\n");
  ASSERT_TRUE(monitor.has_value());
  EXPECT_EQ(monitor->unread_lines, 1);
}

TEST(SmiText, ConsecutiveDocumentsAreSnapshots) {
  const auto document = [](int watts) {
    return R"([{"gpu":0,"name":"a ]","power":{"socket_power":{"value":)" + std::to_string(watts) + R"(,"unit":"W"}}}])";
  };
  const auto log = decode(document(111) + "\n" + document(112) + "\n" + document(113).substr(0, 40));
  ASSERT_TRUE(log.has_value());
  ASSERT_EQ(log->readings.size(), 2U);
  EXPECT_EQ(log->readings[1].value, 112);
  EXPECT_EQ(log->readings[1].snapshot, 1);
  EXPECT_EQ(log->unread_lines, 1);  // the document that is cut
  EXPECT_FALSE(decode(document(111).substr(0, 60)).has_value());
}

}  // namespace
}  // namespace aaco::formats::smi_text
