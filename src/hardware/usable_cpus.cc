#include "hardware/usable_cpus.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/cpu_set.h"
#include "hardware/cgroup.h"

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

}  // namespace aaco::hardware
