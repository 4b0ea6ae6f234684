#include "hardware/usable_cpus.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/cpu_set.h"
#include "core/strings.h"
#include "hardware/cgroup.h"
#include "hardware/inventory/read.h"

namespace aaco::hardware {

int UsableCpus::pool_threads() const {
  if (allowed.empty() || online <= 0) return 0;
  int threads = static_cast<int>(allowed.size());
  if (quota_cores) threads = std::min(threads, std::max(1, static_cast<int>(std::ceil(*quota_cores))));
  return threads < online ? threads : 0;
}

std::vector<int> UsableCpus::pool_cpus() const {
  const int threads = pool_threads();
  return threads > 0 && static_cast<std::size_t>(threads) == allowed.size() ? allowed : std::vector<int>();
}

std::string UsableCpus::allowed_list() const { return core::cpu_list(allowed); }

UsableCpus usable_cpus(const std::string& root) {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return {core::allowed_cpus(), find_cgroup(root, 0).cpu_limit_cores, online > 0 ? static_cast<int>(online) : 0};
}

std::set<std::int64_t> cpus_of_threads(const std::string& root, const std::string& process) {
  const inventory::MachineFiles files(root);
  const std::string tasks = "/proc/" + process + "/task";
  std::set<std::int64_t> cpus;
  for (const std::string& thread : files.names(tasks)) {
    const std::string status = files.text_or_empty(tasks + "/" + thread + "/status");
    for (const std::string_view line : core::split_lines(status))
      if (constexpr std::string_view kKey = "Cpus_allowed_list:"; line.starts_with(kKey))
        for (const std::int64_t cpu : inventory::parse_cpu_list(core::trim(line.substr(kKey.size())))) cpus.insert(cpu);
  }
  return cpus;
}

}  // namespace aaco::hardware
