#include "hardware/thread_cpus.h"

#include <string_view>

#include "core/cpu_set.h"
#include "core/strings.h"
#include "hardware/inventory/read.h"

namespace aaco::hardware {

std::set<std::int64_t> cpus_of_threads(const std::string& root, const std::string& process) {
  const inventory::MachineFiles files(root);
  const std::string tasks = "/proc/" + process + "/task";
  std::set<std::int64_t> cpus;
  for (const std::string& thread : files.names(tasks)) {
    const std::string status = files.text_or_empty(tasks + "/" + thread + "/status");
    for (const std::string_view line : core::split_lines(status))
      if (constexpr std::string_view kKey = "Cpus_allowed_list:"; line.starts_with(kKey))
        for (const std::int64_t cpu : core::parse_cpu_list(core::trim(line.substr(kKey.size())))) cpus.insert(cpu);
  }
  return cpus;
}

}  // namespace aaco::hardware
