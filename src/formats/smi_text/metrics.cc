#include <array>
#include <cmath>

#include "core/numbers.h"
#include "core/strings.h"
#include "formats/smi_text/cells.h"

namespace aaco::formats::smi_text {
namespace {

enum class Quantity : std::uint8_t { ratio, watts, celsius, hertz, bytes, volts, count, joules, transfers, rate, rpm };

struct Meaning {
  std::string_view path;  // the whole plain path, or with a leading dot its end
  std::string_view metric;
  Quantity quantity;
  std::string_view unit;  // where none stands beside the value
};

using Q = Quantity;

// amd-smi's MB are 2^20 bytes (unit_factor).
constexpr auto kMeanings = std::to_array<Meaning>({
    // amd-smi metric
    {".usage.gfx_activity", "gpu.use_ratio", Q::ratio, "%"},
    {".usage.umc_activity", "gpu.memory_use_ratio", Q::ratio, "%"},
    {".power.socket_power", "gpu.power_watts", Q::watts, "W"},
    {".power.current_power", "gpu.power_watts", Q::watts, "W"},
    {".power.average_socket_power", "gpu.power_watts", Q::watts, "W"},
    {".power.gfx_voltage", "gpu.voltage_volts", Q::volts, "mV"},
    {".clock.gfx_0.clk", "gpu.clock_hz", Q::hertz, "MHz"},
    {".clock.mem_0.clk", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    {".clock.gfx.clk", "gpu.clock_hz", Q::hertz, "MHz"},
    {".clock.mem.clk", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    {".temperature.hotspot", "gpu.temperature_celsius", Q::celsius, "C"},
    {".temperature.edge", "gpu.temperature_edge_celsius", Q::celsius, "C"},
    {".temperature.mem", "gpu.temperature_memory_celsius", Q::celsius, "C"},
    {".pcie.width", "gpu.pcie_width_lanes", Q::count, ""},
    {".pcie.speed", "gpu.pcie_speed_transfers_per_second", Q::transfers, "GT/s"},
    {".pcie.bandwidth", "gpu.pcie_bytes_per_second", Q::rate, "Mb/s"},
    {".pcie.replay_count", "gpu.pcie_replays_count", Q::count, ""},
    {".pcie.nak_sent_count", "gpu.pcie_naks_sent_count", Q::count, ""},
    {".pcie.nak_received_count", "gpu.pcie_naks_received_count", Q::count, ""},
    {".ecc.total_correctable_count", "gpu.ecc_correctable_count", Q::count, ""},
    {".ecc.total_uncorrectable_count", "gpu.ecc_uncorrectable_count", Q::count, ""},
    {".energy.total_energy_consumption", "gpu.energy_joules", Q::joules, "J"},
    {".mem_usage.total_vram", "gpu.vram_total_bytes", Q::bytes, "MB"},
    {".mem_usage.used_vram", "gpu.vram_used_bytes", Q::bytes, "MB"},
    {".mem_usage.used_gtt", "gpu.gtt_used_bytes", Q::bytes, "MB"},
    {".fan.rpm", "gpu.fan_rpm", Q::rpm, "RPM"},
    {".throttle.ppt_violation_activity", "gpu.throttled_power_ratio", Q::ratio, "%"},
    {".throttle.socket_thermal_violation_activity", "gpu.throttled_thermal_ratio", Q::ratio, "%"},
    {".throttle.vr_thermal_violation_activity", "gpu.throttled_vr_thermal_ratio", Q::ratio, "%"},
    {".throttle.hbm_thermal_violation_activity", "gpu.throttled_memory_thermal_ratio", Q::ratio, "%"},
    {".throttle.prochot_violation_activity", "gpu.throttled_prochot_ratio", Q::ratio, "%"},
    {".limit.socket_power", "gpu.power_cap_watts", Q::watts, "W"},
    {".limit.current_power", "gpu.power_cap_watts", Q::watts, "W"},
    // amd-smi metric in CSV: the section is gone
    {"gfx_activity", "gpu.use_ratio", Q::ratio, "%"},
    {"umc_activity", "gpu.memory_use_ratio", Q::ratio, "%"},
    {"socket_power", "gpu.power_watts", Q::watts, "W"},
    {"gfx_voltage", "gpu.voltage_volts", Q::volts, "mV"},
    {"gfx_0_clk", "gpu.clock_hz", Q::hertz, "MHz"},
    {"mem_0_clk", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    {"hotspot", "gpu.temperature_celsius", Q::celsius, "C"},
    {"edge", "gpu.temperature_edge_celsius", Q::celsius, "C"},
    {"total_energy_consumption", "gpu.energy_joules", Q::joules, "J"},
    {"total_vram", "gpu.vram_total_bytes", Q::bytes, "MB"},
    {"used_vram", "gpu.vram_used_bytes", Q::bytes, "MB"},
    // amd-smi monitor
    {"power", "gpu.power_watts", Q::watts, "W"},
    {"power_usage", "gpu.power_watts", Q::watts, "W"},
    {"gpu_temp", "gpu.temperature_celsius", Q::celsius, "C"},
    {"gpu_t", "gpu.temperature_celsius", Q::celsius, "C"},
    {"hotspot_temperature", "gpu.temperature_celsius", Q::celsius, "C"},
    {"mem_temp", "gpu.temperature_memory_celsius", Q::celsius, "C"},
    {"mem_t", "gpu.temperature_memory_celsius", Q::celsius, "C"},
    {"memory_temperature", "gpu.temperature_memory_celsius", Q::celsius, "C"},
    {"gfx_util", "gpu.use_ratio", Q::ratio, "%"},
    {"gfx", "gpu.use_ratio", Q::ratio, "%"},
    {"gfx_", "gpu.use_ratio", Q::ratio, "%"},  // GFX%
    {"mem_util", "gpu.memory_use_ratio", Q::ratio, "%"},
    {"mem", "gpu.memory_use_ratio", Q::ratio, "%"},
    {"mem_", "gpu.memory_use_ratio", Q::ratio, "%"},  // MEM%
    {"gfx_clock", "gpu.clock_hz", Q::hertz, "MHz"},
    {"gfx_clk", "gpu.clock_hz", Q::hertz, "MHz"},
    {"mem_clock", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    {"vram_used", "gpu.vram_used_bytes", Q::bytes, "MB"},
    {"vram_total", "gpu.vram_total_bytes", Q::bytes, "MB"},
    {"single_ecc", "gpu.ecc_correctable_count", Q::count, ""},
    {"double_ecc", "gpu.ecc_uncorrectable_count", Q::count, ""},
    {"single_bit_ecc", "gpu.ecc_correctable_count", Q::count, ""},
    {"double_bit_ecc", "gpu.ecc_uncorrectable_count", Q::count, ""},
    {"pcie_replay", "gpu.pcie_replays_count", Q::count, ""},
    {"pcie_bw", "gpu.pcie_bytes_per_second", Q::rate, "Mb/s"},
    // rocm-smi
    {"temperature_sensor_junction", "gpu.temperature_celsius", Q::celsius, "C"},
    {"temperature_sensor_edge", "gpu.temperature_edge_celsius", Q::celsius, "C"},
    {"temperature_sensor_memory", "gpu.temperature_memory_celsius", Q::celsius, "C"},
    {"temp_junction", "gpu.temperature_celsius", Q::celsius, "C"},
    {"temp_edge", "gpu.temperature_edge_celsius", Q::celsius, "C"},
    {"temp", "gpu.temperature_edge_celsius", Q::celsius, "C"},
    {"average_graphics_package_power", "gpu.power_watts", Q::watts, "W"},
    {"current_socket_graphics_package_power", "gpu.power_watts", Q::watts, "W"},
    {"avgpwr", "gpu.power_watts", Q::watts, "W"},
    {"max_graphics_package_power", "gpu.power_cap_watts", Q::watts, "W"},
    {"pwrcap", "gpu.power_cap_watts", Q::watts, "W"},
    {"gpu_use", "gpu.use_ratio", Q::ratio, "%"},
    {"gpu_", "gpu.use_ratio", Q::ratio, "%"},  // GPU%
    {"gpu_memory_read_write_activity", "gpu.memory_use_ratio", Q::ratio, "%"},
    {"vram_total_memory", "gpu.vram_total_bytes", Q::bytes, "B"},
    {"vram_total_used_memory", "gpu.vram_used_bytes", Q::bytes, "B"},
    {"sclk", "gpu.clock_hz", Q::hertz, "MHz"},
    {"mclk", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    {"sclk_clock_speed", "gpu.clock_hz", Q::hertz, "MHz"},
    {"mclk_clock_speed", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    {"fan_rpm", "gpu.fan_rpm", Q::rpm, "RPM"},
    {"voltage", "gpu.voltage_volts", Q::volts, "mV"},
    {"accumulated_energy", "gpu.energy_joules", Q::joules, "uJ"},
    // nvidia-smi --query-gpu
    {"utilization.gpu", "gpu.use_ratio", Q::ratio, "%"},
    {"utilization.memory", "gpu.memory_use_ratio", Q::ratio, "%"},
    {"memory.used", "gpu.vram_used_bytes", Q::bytes, "MiB"},
    {"memory.total", "gpu.vram_total_bytes", Q::bytes, "MiB"},
    {"power.draw", "gpu.power_watts", Q::watts, "W"},
    {"power.draw.average", "gpu.power_watts", Q::watts, "W"},
    {"enforced.power.limit", "gpu.power_cap_watts", Q::watts, "W"},
    {"power.limit", "gpu.power_cap_watts", Q::watts, "W"},
    {"temperature.gpu", "gpu.temperature_celsius", Q::celsius, "C"},
    {"temperature.memory", "gpu.temperature_memory_celsius", Q::celsius, "C"},
    {"clocks.sm", "gpu.clock_hz", Q::hertz, "MHz"},
    {"clocks.current.sm", "gpu.clock_hz", Q::hertz, "MHz"},
    {"clocks.mem", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    {"clocks.current.memory", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    {"pcie.link.width.current", "gpu.pcie_width_lanes", Q::count, ""},
    // nvidia-smi -q
    {".gpu_power_readings.power_draw", "gpu.power_watts", Q::watts, "W"},
    {".gpu_power_readings.average_power_draw", "gpu.power_watts", Q::watts, "W"},
    {".power_readings.power_draw", "gpu.power_watts", Q::watts, "W"},
    {".gpu_power_readings.current_power_limit", "gpu.power_cap_watts", Q::watts, "W"},
    {".power_readings.power_limit", "gpu.power_cap_watts", Q::watts, "W"},
    {".utilization.gpu", "gpu.use_ratio", Q::ratio, "%"},
    {".utilization.memory", "gpu.memory_use_ratio", Q::ratio, "%"},
    {".fb_memory_usage.used", "gpu.vram_used_bytes", Q::bytes, "MiB"},
    {".fb_memory_usage.total", "gpu.vram_total_bytes", Q::bytes, "MiB"},
    {".temperature.gpu_current_temp", "gpu.temperature_celsius", Q::celsius, "C"},
    {".temperature.memory_current_temp", "gpu.temperature_memory_celsius", Q::celsius, "C"},
    {"clocks.memory", "gpu.memory_clock_hz", Q::hertz, "MHz"},
    // nvidia-smi dmon
    {"pwr", "gpu.power_watts", Q::watts, "W"},
    {"gtemp", "gpu.temperature_celsius", Q::celsius, "C"},
    {"mtemp", "gpu.temperature_memory_celsius", Q::celsius, "C"},
    {"sm", "gpu.use_ratio", Q::ratio, "%"},
    {"pclk", "gpu.clock_hz", Q::hertz, "MHz"},
    {"fb", "gpu.vram_used_bytes", Q::bytes, "MiB"},
});

const Meaning* meaning_of(const std::string& path) {
  const std::string dotted = '.' + path;
  for (const Meaning& meaning : kMeanings)
    if (meaning.path[0] == '.' ? dotted.ends_with(meaning.path) : path == meaning.path) return &meaning;
  return nullptr;
}

// To the base unit of the quantity; empty for a unit that is none of it.
std::optional<double> unit_factor(Quantity quantity, const std::string& unit, Tool tool) {
  struct Unit {
    std::string_view name;  // in lower case
    double factor;
  };
  const auto find = [&](std::initializer_list<Unit> units) -> std::optional<double> {
    for (const Unit& known : units)
      if (known.name == unit) return known.factor;
    return std::nullopt;
  };
  const double mega = tool == Tool::nvidia_smi ? 1e6 : 1048576.0;  // AMD's tools divide by 2^20 and write MB
  switch (quantity) {
    case Q::ratio: return find({{"%", 0.01}});
    case Q::watts: return find({{"w", 1}, {"mw", 1e-3}, {"uw", 1e-6}});
    case Q::celsius: return find({{"c", 1}, {"°c", 1}});
    case Q::hertz: return find({{"hz", 1}, {"khz", 1e3}, {"mhz", 1e6}, {"ghz", 1e9}});
    case Q::bytes:
      return find({{"b", 1},
                   {"kib", 1024.0},
                   {"mib", 1048576.0},
                   {"gib", 1073741824.0},
                   {"mb", mega},
                   {"gb", mega * (tool == Tool::nvidia_smi ? 1e3 : 1024)}});
    case Q::volts: return find({{"v", 1}, {"mv", 1e-3}});
    case Q::joules: return find({{"j", 1}, {"kj", 1e3}, {"mj", 1e-3}, {"uj", 1e-6}});
    case Q::transfers: return find({{"gt/s", 1e9}, {"mt/s", 1e6}});
    case Q::rate: return find({{"mb/s", 1e6 / 8}, {"gb/s", 1e9 / 8}, {"b/s", 1.0 / 8}});
    case Q::rpm: return find({{"rpm", 1}, {"", 1}});
    case Q::count: return find({{"", 1}, {"x", 1}});
  }
  return std::nullopt;
}

bool is_absent(std::string_view value) {
  const std::string lower = core::to_lower(value.substr(0, 32));
  return lower.empty() || lower == "-" || lower.starts_with("n/a") || lower.starts_with("[n/a") ||
         lower.find("not supported") != std::string::npos || lower == "unknown" || lower == "unsupported" ||
         lower.find("unknown error") != std::string::npos;
}

// "248 W", "98Mhz", "(1500Mhz)", "48.0°C", "16x".
std::optional<double> number_with_unit(std::string_view value, std::string_view fallback, Quantity quantity, Tool tool) {
  while (!value.empty() && (value.front() == '(' || value.front() == '[')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ')' || value.back() == ']')) value.remove_suffix(1);
  const auto end = std::min(value.find_first_not_of("+-.0123456789"), value.size());
  const auto number = core::parse_f64(value.substr(0, end));
  if (!number || !std::isfinite(*number)) return std::nullopt;
  std::string unit = core::to_lower(core::trim(value.substr(end)));
  if (unit.empty()) unit = core::to_lower(fallback);
  const auto factor = unit_factor(quantity, unit, tool);
  if (!factor || (*number < 0 && quantity != Q::celsius)) return std::nullopt;
  return *number * *factor;
}

}  // namespace

void Cells::begin_device(std::int64_t device) {
  device_ = device;
  const auto [place, fresh] = snapshots_.try_emplace(device, 0);
  if (!fresh) ++place->second;
}

void Cells::add(std::string_view path, std::string_view value, std::string_view unit) {
  const std::string name = plain_name(path);
  value = core::trim(value);
  const auto ends = [&](std::string_view word) { return name == word || name.ends_with('.' + std::string(word)); };
  auto& device = log_.devices[device_];
  for (const auto& [words, fact] :
       {std::pair("market_name product_name card_series name", "name"), std::pair("uuid gpu_uuid unique_id", "uuid"),
        std::pair("bdf pci_bus pci.bus_id gpu_bdf bus_id", "pci_address")})
    for (const std::string_view word : core::split_words(words))
      if (ends(word) && !is_absent(value) && !name.starts_with("process") && value.size() < 200) device.try_emplace(fact, value);
  const Meaning* meaning = meaning_of(name);
  if (meaning == nullptr) {
    // rocm-smi puts the unit behind the name: "GPU use (%)".
    const auto bracket = path.rfind('(');
    if (bracket == std::string_view::npos || bracket == 0 || path.back() != ')') {
      ++log_.other;
      return;
    }
    return add(core::trim(path.substr(0, bracket)), value, path.substr(bracket + 1, path.size() - bracket - 2));
  }
  if (is_absent(value)) {
    ++log_.not_available;
    return;
  }
  const auto number = number_with_unit(value, unit.empty() ? meaning->unit : unit, meaning->quantity, log_.tool);
  if (!number) {
    ++log_.not_understood;
    return;
  }
  log_.readings.push_back({device_, meaning->metric, *number, time_ns_, snapshots_[device_]});
}

}  // namespace aaco::formats::smi_text
