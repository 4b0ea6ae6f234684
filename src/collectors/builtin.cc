#include "collectors/collector.h"
#include "collectors/proc/proc_collector.h"

namespace aaco::collectors {

std::vector<std::unique_ptr<Collector>> builtin_collectors() {
  std::vector<std::unique_ptr<Collector>> collectors;
  collectors.push_back(proc::make_collector());
  return collectors;
}

}  // namespace aaco::collectors
