#include "formats/gpu_metrics/layouts.h"

// The layouts of struct gpu_metrics_v2_* and gpu_metrics_v3_0 of the same header: processors with graphics. The drivers hand
// over what the firmware gives: hundredths of a degree and of a percent, mW.
namespace aaco::formats::gpu_metrics {
namespace {

using enum GpuMetricsField;
using enum Scale;

constexpr Item kV20[] = {{driver_time, 8, 1, nano},
                         {temperature_gfx, 2, 1, hundredth},
                         {temperature_soc, 2, 1, hundredth},
                         {temperature_core, 2, 8, hundredth},
                         {temperature_l3, 2, 2, hundredth},
                         {gfx_activity, 2, 1, ten_thousandth},
                         {media_activity, 2, 1, ten_thousandth},
                         {socket_power_average, 2, 1, milli},
                         {cpu_power, 2, 1, milli},
                         {soc_power, 2, 1, milli},
                         {gfx_power, 2, 1, milli},
                         {core_power, 2, 8, milli},
                         {gfx_clock_average, 2, 1, mega},
                         {soc_clock_average, 2, 1, mega},
                         {memory_clock_average, 2, 1, mega},
                         {fabric_clock_average, 2, 1, mega},
                         {vclk_average, 2, 1, mega},
                         {dclk_average, 2, 1, mega},
                         {gfx_clock, 2, 1, mega},
                         {soc_clock, 2, 1, mega},
                         {memory_clock, 2, 1, mega},
                         {fabric_clock, 2, 1, mega},
                         {vclk, 2, 1, mega},
                         {dclk, 2, 1, mega},
                         {core_clock, 2, 8, mega},
                         {l3_clock, 2, 2, mega},
                         {throttle_status, 4},
                         {fan_pwm, 2},
                         {reserved, 2}};

constexpr Item kV21[] = {{temperature_gfx, 2, 1, hundredth},
                         {temperature_soc, 2, 1, hundredth},
                         {temperature_core, 2, 8, hundredth},
                         {temperature_l3, 2, 2, hundredth},
                         {gfx_activity, 2, 1, ten_thousandth},
                         {media_activity, 2, 1, ten_thousandth},
                         {driver_time, 8, 1, nano},
                         {socket_power_average, 2, 1, milli},
                         {cpu_power, 2, 1, milli},
                         {soc_power, 2, 1, milli},
                         {gfx_power, 2, 1, milli},
                         {core_power, 2, 8, milli},
                         {gfx_clock_average, 2, 1, mega},
                         {soc_clock_average, 2, 1, mega},
                         {memory_clock_average, 2, 1, mega},
                         {fabric_clock_average, 2, 1, mega},
                         {vclk_average, 2, 1, mega},
                         {dclk_average, 2, 1, mega},
                         {gfx_clock, 2, 1, mega},
                         {soc_clock, 2, 1, mega},
                         {memory_clock, 2, 1, mega},
                         {fabric_clock, 2, 1, mega},
                         {vclk, 2, 1, mega},
                         {dclk, 2, 1, mega},
                         {core_clock, 2, 8, mega},
                         {l3_clock, 2, 2, mega},
                         {throttle_status, 4},
                         {fan_pwm, 2},
                         {reserved, 2, 3}};

// Each later version ends with more: v2.2 the independent throttle status, v2.3 averages of the temperatures, v2.4 voltages and
// currents.
constexpr Item kV22Tail[] = {{throttle_status_independent, 8}};
constexpr Item kV23Tail[] = {{throttle_status_independent, 8}, {reserved, 2, 12}};
constexpr Item kV24Tail[] = {{throttle_status_independent, 8}, {reserved, 2, 12},          {voltage_cpu, 2, 1, milli},
                             {voltage_soc, 2, 1, milli},       {voltage_gfx, 2, 1, milli}, {current_cpu, 2, 1, milli},
                             {current_soc, 2, 1, milli},       {current_gfx, 2, 1, milli}};

constexpr Item kV30[] = {{temperature_gfx, 2, 1, hundredth},
                         {temperature_soc, 2, 1, hundredth},
                         {temperature_core, 2, 16, hundredth},
                         {temperature_skin, 2, 1, hundredth},
                         {gfx_activity, 2, 1, ten_thousandth},
                         {vcn_activity, 2, 1, ten_thousandth},
                         {ipu_activity, 2, 8, ten_thousandth},
                         {core_activity, 2, 16, ten_thousandth},
                         {dram_read_rate, 2, 1, mega},
                         {dram_write_rate, 2, 1, mega},
                         {ipu_read_rate, 2, 1, mega},
                         {ipu_write_rate, 2, 1, mega},
                         {driver_time, 8, 1, nano},
                         {socket_power_average, 4, 1, milli},
                         {ipu_power, 2, 1, milli},
                         {apu_power, 4, 1, milli},
                         {gfx_power, 4, 1, milli},
                         {dgpu_power, 4, 1, milli},
                         {all_core_power, 4, 1, milli},
                         {core_power, 2, 16, milli},
                         {system_power, 2, 1, milli},
                         {power_limit, 2, 1, milli},
                         {power_limit_current, 2, 1, milli},
                         {gfx_clock_average, 2, 1, mega},
                         {soc_clock_average, 2, 1, mega},
                         {reserved, 2, 2},
                         {fabric_clock_average, 2, 1, mega},
                         {vclk_average, 2, 1, mega},
                         {memory_clock_average, 2, 1, mega},
                         {reserved, 2},
                         {core_clock, 2, 16, mega},
                         {core_clock_limit, 2, 1, mega},
                         {gfx_clock_limit, 2, 1, mega},
                         {throttled_prochot, 4},
                         {throttled_spl, 4},
                         {throttled_fppt, 4},
                         {throttled_sppt, 4},
                         {throttled_core_thermal, 4},
                         {throttled_gfx_thermal, 4},
                         {throttled_soc_thermal, 4},
                         {reserved, 4}};

constexpr Layout layout(int format, int content, std::span<const Item> head, std::span<const Item> tail = {}) {
  return {format, content, head, {}, tail, align(end_of(end_of(kHeaderBytes, head), tail), 8)};
}
constexpr Layout kLayoutsV2V3[] = {layout(2, 0, kV20),           layout(2, 1, kV21),           layout(2, 2, kV21, kV22Tail),
                                   layout(2, 3, kV21, kV23Tail), layout(2, 4, kV21, kV24Tail), layout(3, 0, kV30)};

}  // namespace

std::span<const Layout> layouts_v2_v3() { return kLayoutsV2V3; }

}  // namespace aaco::formats::gpu_metrics
