#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collectors/proc/cgroup_source.h"
#include "collectors/proc/cpu_stat.h"
#include "collectors/proc/machine_sources.h"
#include "collectors/proc/process_files.h"

using namespace aaco::collectors::proc;  // NOLINT: one function

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static SystemStat before, now;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (parse_system_stat(text, now)) {
    (void)cpu_shares(before.machine, now.machine);
    std::swap(before, now);
  }
  (void)parse_process_stat(text);
  (void)parse_sched_stat(text);
  (void)parse_process_status(text);
  (void)parse_pressure(text);
  (void)parse_cgroup_cpu_stat(text);
  return 0;
}
