#include "hardware/cpu_clock.h"

#include <algorithm>
#include <set>

#include "core/cpu_set.h"
#include "hardware/inventory/read.h"

namespace aaco::hardware {
namespace {

using inventory::MachineFiles;

constexpr std::int64_t kHzPerKhz = 1000;

CpuClock read_cpu(const MachineFiles& files, std::int64_t cpu) {
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/";
  const auto text = [&](const char* name) {
    auto value = files.text(folder + name);
    return value && !value->empty() && *value != "<unsupported>" && *value != "<unknown>" ? value : std::nullopt;
  };
  const auto hz = [&](const char* name) -> std::optional<std::int64_t> {
    const auto khz = files.integer(folder + name);
    if (!khz || *khz <= 0 || *khz > INT64_MAX / kHzPerKhz) return std::nullopt;
    return *khz * kHzPerKhz;
  };
  return {cpu,
          text("scaling_driver"),
          text("scaling_governor"),
          text("energy_performance_preference"),
          hz("scaling_min_freq"),
          hz("scaling_max_freq"),
          hz("cpuinfo_min_freq"),
          hz("cpuinfo_max_freq"),
          hz("scaling_cur_freq")};
}

std::optional<bool> read_boost(const MachineFiles& files) {
  if (const auto boost = files.integer("/sys/devices/system/cpu/cpufreq/boost")) return *boost != 0;
  if (const auto no_turbo = files.integer("/sys/devices/system/cpu/intel_pstate/no_turbo")) return *no_turbo == 0;
  return std::nullopt;
}

bool set_for_performance(const CpuClock& cpu) { return cpu.governor == "performance" || cpu.energy_preference == "performance"; }

}  // namespace

CpuClockState read_cpu_clock_state(const std::string& root) {
  const MachineFiles files(root);
  CpuClockState state;
  auto cpus = core::parse_cpu_list(files.text_or_empty("/sys/devices/system/cpu/online"));
  if (cpus.empty())
    for (const std::string& name : files.names("/sys/devices/system/cpu"))
      if (const auto cpu = inventory::number_after(name, "cpu")) cpus.push_back(*cpu);
  std::sort(cpus.begin(), cpus.end());
  for (const std::int64_t cpu : cpus) state.cpus.push_back(read_cpu(files, cpu));
  state.boost = read_boost(files);
  if (const auto smt = files.integer("/sys/devices/system/cpu/smt/active")) state.smt_active = *smt != 0;
  auto source = files.text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source && !source->empty()) state.clock_source = std::move(source);
  return state;
}

PerformanceMode check_performance_mode(const CpuClockState& state) {
  PerformanceMode mode;
  std::int64_t unknown = 0, other = 0, capped = 0;
  for (const CpuClock& cpu : state.cpus) {
    if (!cpu.governor) ++unknown;
    if (cpu.governor && !set_for_performance(cpu)) ++other;
    if (cpu.scaling_max_hz && cpu.hardware_max_hz && *cpu.scaling_max_hz < *cpu.hardware_max_hz) ++capped;
  }
  const auto of_all = [&](std::int64_t count) {
    return std::to_string(count) + " of " + std::to_string(state.cpus.size()) + " CPUs";
  };
  if (other > 0) mode.reasons.push_back(of_all(other) + " use the governor " + governors(state));
  if (capped > 0) mode.reasons.push_back(of_all(capped) + " are limited below their hardware clock");
  if (!mode.reasons.empty()) {
    mode.verdict = PerformanceMode::Verdict::no;
  } else if (unknown > 0 || state.cpus.empty()) {
    mode.reasons.emplace_back("the kernel does not report clock governors (common in virtual machines)");
  } else {
    mode.verdict = PerformanceMode::Verdict::yes;
  }
  if (state.boost == true) mode.reasons.emplace_back("boost is on: clocks depend on load and temperature");
  return mode;
}

std::string governors(const CpuClockState& state) {
  std::set<std::string> names;
  for (const CpuClock& cpu : state.cpus)
    if (cpu.governor) names.insert(*cpu.governor);
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
  return joined;
}

core::Json to_json(const CpuClockState& state) {
  core::Json cpus = core::Json::array();
  for (const CpuClock& cpu : state.cpus) {
    core::Json out = core::Json::object({{"cpu", cpu.cpu}});
    out.set_if("driver", cpu.driver).set_if("governor", cpu.governor).set_if("energy_preference", cpu.energy_preference);
    out.set_if("scaling_min_hz", cpu.scaling_min_hz).set_if("scaling_max_hz", cpu.scaling_max_hz);
    out.set_if("hardware_min_hz", cpu.hardware_min_hz)
        .set_if("hardware_max_hz", cpu.hardware_max_hz)
        .set_if("current_hz", cpu.current_hz);
    cpus.push(std::move(out));
  }
  core::Json out = core::Json::object();
  out.set_if("boost", state.boost).set_if("smt_active", state.smt_active).set_if("clock_source", state.clock_source);
  if (const std::string names = governors(state); !names.empty()) out.set("governor", names);
  out.set("performance_mode", to_json(check_performance_mode(state))).set("cpus", std::move(cpus));
  return out;
}

core::Json to_json(const PerformanceMode& mode) {
  constexpr std::string_view kVerdicts[] = {"yes", "no", "unknown"};
  core::Json reasons = core::Json::texts(mode.reasons);
  return core::Json::object({{"verdict", kVerdicts[static_cast<int>(mode.verdict)]}, {"reasons", std::move(reasons)}});
}

}  // namespace aaco::hardware
