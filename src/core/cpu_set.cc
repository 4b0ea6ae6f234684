#include "core/cpu_set.h"

#include <sched.h>

namespace aaco::core {

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

std::string cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t from = 0, to; from < cpus.size(); from = to + 1) {
    for (to = from; to + 1 < cpus.size() && cpus[to + 1] == cpus[to] + 1;) ++to;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[from]);
    if (to > from) text += "-" + std::to_string(cpus[to]);
  }
  return text;
}

bool pin_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace aaco::core
