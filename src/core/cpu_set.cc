#include "core/cpu_set.h"

#include <sched.h>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::core {
namespace {

constexpr std::size_t kMaxCpus = 65536;

}  // namespace

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

std::vector<std::int64_t> parse_cpu_list(std::string_view text) {
  std::vector<std::int64_t> cpus;
  for (const std::string_view part : split(trim(text), ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_i64(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_i64(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || static_cast<std::size_t>(*last - *first) >= kMaxCpus - cpus.size())
      return {};
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

bool pin_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace aaco::core
