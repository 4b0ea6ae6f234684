#include <algorithm>
#include <array>
#include <utility>

#include "analytics/noise.h"

namespace aaco::analytics::noise {
namespace {

using Row = trace::LoopBlockRow;
using Count = std::optional<std::int64_t> Row::*;

// A counter's growth over the block's wall time: nanoseconds give a ratio (or CPUs), events a rate a second.
struct Rate {
  std::string_view sensor;
  Count member;
  double scale;
};
constexpr double kPerSecond = 1e9;
constexpr std::array<Rate, 9> kRates = {{{"throttled_ratio", &Row::throttled_ns, 1},
                                         {"thermal_per_second", &Row::thermal_throttles, kPerSecond},
                                         {"steal_cores", &Row::steal_ns, 1},
                                         {"memory_some_ratio", &Row::memory_some_ns, 1},
                                         {"io_some_ratio", &Row::io_some_ns, 1},
                                         {"cpu_some_ratio", &Row::cpu_some_ns, 1},
                                         {"involuntary_per_second", &Row::involuntary_switches, kPerSecond},
                                         {"interrupts_per_second", &Row::interrupts, kPerSecond},
                                         {"softirqs_per_second", &Row::softirqs, kPerSecond}}};

}  // namespace

bool is_sensor(std::string_view sensor) {
  return sensor == "clock_hz" || sensor == "others_cores" || sensor == "wait_ratio" ||
         std::any_of(kRates.begin(), kRates.end(), [&](const Rate& rate) { return rate.sensor == sensor; });
}

std::optional<double> sensor_value(std::string_view sensor, const Row& block) {
  const auto wall = static_cast<double>(block.end_ns - block.start_ns);
  if (wall <= 0) return std::nullopt;
  if (sensor == "clock_hz")
    return block.caller_clock_hz ? std::optional(static_cast<double>(*block.caller_clock_hz)) : std::nullopt;
  if (sensor == "others_cores" || sensor == "wait_ratio") {
    // What runs on CPUs that the run may not use takes no time from it.
    const auto& busy = block.allowed_busy_ns ? block.allowed_busy_ns : block.machine_busy_ns;
    if (!busy || !block.process_cpu_ns) return std::nullopt;
    const double others = std::max(0.0, static_cast<double>(*busy - *block.process_cpu_ns) / wall);
    if (sensor == "others_cores") return others;
    if (!block.process_wait_ns) return std::nullopt;
    // What threads waited for beyond the time that others ran, they waited for each other.
    return std::min(others, static_cast<double>(*block.process_wait_ns) / wall);
  }
  for (const Rate& rate : kRates)
    if (rate.sensor == sensor)
      return block.*(rate.member) ? std::optional(static_cast<double>(*(block.*(rate.member))) * rate.scale / wall)
                                  : std::nullopt;
  return std::nullopt;
}

}  // namespace aaco::analytics::noise
