#include <sched.h>

#include "core/numbers.h"
#include "core/strings.h"
#include "laboratory/capsule/switch.h"

namespace aaco::laboratory::capsule {
namespace {

using core::ErrorCode;

core::Status one_of(const std::string& value, const std::vector<std::string_view>& known) {
  for (const std::string_view one : known)
    if (value == one) return {};
  std::string list;
  for (const std::string_view one : known) list += (list.empty() ? "" : ", ") + std::string(one);
  return core::fail(ErrorCode::invalid_argument, "'" + value + "' is not one of: " + list);
}

core::Status number(const std::string& value, std::int64_t low, std::int64_t high) {
  const auto given = core::parse_i64(value);
  if (given && *given >= low && *given <= high) return {};
  return core::fail(ErrorCode::invalid_argument,
                    "'" + value + "' is not a number from " + std::to_string(low) + " to " + std::to_string(high));
}

core::Status check_affinity(const std::string& value) {
  std::vector<int> every;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) every.push_back(cpu);
  const auto cpus = cpus_of(value, every, "/nonexistent");
  return cpus ? core::Status() : tl::unexpected<core::Error>(cpus.error());
}

core::Status check_memory_limit(const std::string& value) {
  const auto bytes = core::parse_bytes(value);
  if (bytes && *bytes >= (1 << 20)) return {};
  return core::fail(ErrorCode::invalid_argument, "'" + value + "' is not a size of at least 1MiB (for example 8GiB)");
}

core::Status check_governor(const std::string& value) {
  const bool plain =
      !value.empty() && value.size() <= 15 && value.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
  if (plain) return {};
  return core::fail(ErrorCode::invalid_argument, "'" + value + "' is not a valid governor name (for example performance)");
}

core::Status check_gpu_clocks(const std::string& value) {
  constexpr std::string_view kManual = "manual:";
  if (value.starts_with(kManual)) return number(value.substr(kManual.size()), 0, 63);
  return one_of(value, {"auto", "low", "high", "profile_standard", "profile_min_sclk", "profile_min_mclk", "profile_peak"});
}

}  // namespace

const std::vector<Switch>& all_switches() {
  static const std::vector<Switch> table = {
      {{"gpu_clocks", "AMD GPU clock policy (power_dpm_force_performance_level, pp_dpm_sclk)",
        "auto, low, high, profile_standard, profile_peak, manual:STEP"},
       check_gpu_clocks,
       set_gpu_clocks},
      {{"governor", "frequency governor of all CPUs", "performance, or any governor the kernel offers"},
       check_governor,
       set_governor},
      {{"boost", "boost clocks above the nominal clock", "off, on"},
       [](const std::string& v) {
         return one_of(v, {"off", "on"});
       },
       set_boost},
      {{"huge_pages", "transparent huge pages; 'never' affects only the measured process, other values the whole machine",
        "never, madvise, always"},
       [](const std::string& v) {
         return one_of(v, {"never", "madvise", "always"});
       },
       set_huge_pages},
      {{"idle", "keep CPUs out of deep idle states, for low wake-up latency", "shallow"},
       [](const std::string& v) { return one_of(v, {"shallow"}); },
       set_idle},
      {{"aslr", "disable address randomisation, for identical process layouts", "off"},
       [](const std::string& v) { return one_of(v, {"off"}); },
       set_aslr},
      {{"cpu_weight", "CPU weight of the run's own cgroup; the default is 100", "1 to 10000"},
       [](const std::string& v) { return number(v, 1, 10'000); },
       set_cpu_weight},
      {{"cpuset", "confine the run to the affinity CPUs with a cgroup", "on"},
       [](const std::string& v) { return one_of(v, {"on"}); },
       set_cpuset},
      {{"memory_limit", "memory limit, enforced by the run's own cgroup", "a size such as 8GiB"},
       check_memory_limit,
       set_memory_limit},
      {{"affinity", "CPUs to run on; spare leaves the first core to other processes", "all, spare, one, or a list such as 1,3-5"},
       check_affinity,
       set_affinity},
      {{"nice", "nice value (priority relative to other processes)", "-20 to 19"},
       [](const std::string& v) { return number(v, -20, 19); },
       set_nice},
      {{"fifo", "real-time priority above all normal processes (SCHED_FIFO)", "1 to 99"},
       [](const std::string& v) { return number(v, 1, 99); },
       set_fifo},
      {{"memory_lock", "lock memory so that it is never paged out (aaco run only)", "on"},
       [](const std::string& v) { return one_of(v, {"on"}); },
       lock_memory},
  };
  return table;
}

const std::vector<SwitchInfo>& switches() {
  static const std::vector<SwitchInfo> infos = [] {
    std::vector<SwitchInfo> list;
    for (const Switch& one : all_switches()) list.push_back(one.info);
    return list;
  }();
  return infos;
}

}  // namespace aaco::laboratory::capsule
