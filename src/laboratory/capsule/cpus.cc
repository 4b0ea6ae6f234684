#include <sched.h>

#include <algorithm>
#include <optional>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "laboratory/capsule/switch.h"

namespace aaco::laboratory::capsule {
namespace {

using core::ErrorCode;

// The kernel's form: "0-3,8".
std::optional<std::vector<int>> parse_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string_view part : core::split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = core::parse_i64(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : core::parse_i64(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= CPU_SETSIZE) return std::nullopt;
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

// Hardware threads of one core disturb each other, so the core is kept free as a whole.
std::vector<int> core_of(int cpu, const std::string& root) {
  const auto text = core::read_file(
      core::join_path(root, "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list"), 1 << 16);
  auto siblings = text ? parse_list(core::trim(*text)) : std::nullopt;
  return siblings && !siblings->empty() ? std::move(*siblings) : std::vector<int>{cpu};
}

}  // namespace

core::Result<std::vector<int>> cpus_of(const std::string& value, const std::vector<int>& allowed, const std::string& root) {
  std::vector<int> cpus;
  if (value == "all") {
    cpus = allowed;
  } else if (value == "one") {
    if (!allowed.empty()) cpus = {allowed.back()};
  } else if (value == "spare") {
    const std::vector<int> kept_free = allowed.empty() ? std::vector<int>() : core_of(allowed.front(), root);
    for (const int cpu : allowed)
      if (std::find(kept_free.begin(), kept_free.end(), cpu) == kept_free.end()) cpus.push_back(cpu);
    if (cpus.empty())
      return core::fail(ErrorCode::unsupported, "this process is limited to one core, but 'spare' leaves the first core free",
                        "allow the process more cores");
  } else {
    const auto listed = parse_list(value);
    if (!listed || listed->empty())
      return core::fail(ErrorCode::invalid_argument, "'" + value + "' is not a CPU list",
                        "use all, spare, one, or a list such as 1,3-5");
    std::set_intersection(listed->begin(), listed->end(), allowed.begin(), allowed.end(), std::back_inserter(cpus));
    if (cpus.size() != listed->size())
      return core::fail(ErrorCode::unsupported,
                        "this process may only use CPUs " + core::cpu_list(allowed) + ", not all of " + core::cpu_list(*listed));
  }
  if (cpus.empty()) return core::fail(ErrorCode::unsupported, "the kernel does not report which CPUs this process may use");
  return cpus;
}

}  // namespace aaco::laboratory::capsule
