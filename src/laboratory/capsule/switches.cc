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
  return core::fail(ErrorCode::invalid_argument, "'" + value + "' is not among: " + list);
}

core::Status number(const std::string& value, std::int64_t low, std::int64_t high) {
  const auto given = core::parse_i64(value);
  if (given && *given >= low && *given <= high) return {};
  return core::fail(ErrorCode::invalid_argument,
                    "'" + value + "' is no number from " + std::to_string(low) + " to " + std::to_string(high));
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
  return core::fail(ErrorCode::invalid_argument, "'" + value + "' is no size of at least 1MiB, such as 8GiB");
}

core::Status check_governor(const std::string& value) {
  const bool plain =
      !value.empty() && value.size() <= 15 && value.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
  if (plain) return {};
  return core::fail(ErrorCode::invalid_argument, "'" + value + "' is no governor's name, such as performance");
}

core::Status check_gpu_clocks(const std::string& value) {
  constexpr std::string_view kManual = "manual:";
  if (value.starts_with(kManual)) return number(value.substr(kManual.size()), 0, 63);
  return one_of(value, {"auto", "low", "high", "profile_standard", "profile_min_sclk", "profile_min_mclk", "profile_peak"});
}

}  // namespace

const std::vector<Switch>& all_switches() {
  static const std::vector<Switch> table = {
      {{"gpu_clocks", "clock policy of AMD GPUs (power_dpm_force_performance_level, pp_dpm_sclk)",
        "auto, low, high, profile_standard, profile_peak, manual:STEP"},
       check_gpu_clocks,
       set_gpu_clocks},
      {{"governor", "clock governor of every CPU", "performance, or another that the kernel has"}, check_governor, set_governor},
      {{"boost", "clocks above the nominal one", "off, on"},
       [](const std::string& v) {
         return one_of(v, {"off", "on"});
       },
       set_boost},
      {{"huge_pages", "transparent huge pages: of what is measured (never), or of the machine", "never, madvise, always"},
       [](const std::string& v) {
         return one_of(v, {"never", "madvise", "always"});
       },
       set_huge_pages},
      {{"idle", "CPUs do not sleep deeply, so that they wake at once", "shallow"},
       [](const std::string& v) { return one_of(v, {"shallow"}); },
       set_idle},
      {{"aslr", "addresses are not randomised, so that processes are laid out alike", "off"},
       [](const std::string& v) { return one_of(v, {"off"}); },
       set_aslr},
      {{"cpu_weight", "share of CPU time in a control group of its own; the others have 100", "1 to 10000"},
       [](const std::string& v) { return number(v, 1, 10'000); },
       set_cpu_weight},
      {{"cpuset", "a control group that holds it on the CPUs of the affinity", "on"},
       [](const std::string& v) { return one_of(v, {"on"}); },
       set_cpuset},
      {{"memory_limit", "most memory, by a control group of its own", "a size such as 8GiB"},
       check_memory_limit,
       set_memory_limit},
      {{"affinity", "CPUs it runs on: spare leaves the first core to the others", "all, spare, one, or a list as 1,3-5"},
       check_affinity,
       set_affinity},
      {{"nice", "weight against other processes", "-20 to 19"},
       [](const std::string& v) { return number(v, -20, 19); },
       set_nice},
      {{"fifo", "a fixed priority above all ordinary processes (SCHED_FIFO)", "1 to 99"},
       [](const std::string& v) { return number(v, 1, 99); },
       set_fifo},
      {{"memory_lock", "its memory is never paged out (aaco run only)", "on"},
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
