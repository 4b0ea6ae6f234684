#include "hardware/usable_cpus.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "hardware/cgroup.h"

namespace aaco::hardware {
namespace {

std::vector<int> affinity_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace

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

std::string UsableCpus::allowed_list() const {
  std::string text;
  for (std::size_t from = 0, to; from < allowed.size(); from = to + 1) {
    for (to = from; to + 1 < allowed.size() && allowed[to + 1] == allowed[to] + 1;) ++to;
    text += (text.empty() ? "" : ",") + std::to_string(allowed[from]);
    if (to > from) text += "-" + std::to_string(allowed[to]);
  }
  return text;
}

UsableCpus usable_cpus(const std::string& root) {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return {affinity_mask(), find_cgroup(root, 0).cpu_limit_cores, online > 0 ? static_cast<int>(online) : 0};
}

}  // namespace aaco::hardware
