#include "collectors/node_collectors.h"

#include "collectors/amdgpu/amdgpu_collector.h"
#include "collectors/nvml/nvml_collector.h"
#include "collectors/proc/proc_collector.h"

namespace aaco::collectors {

std::vector<std::unique_ptr<Collector>> node_collectors(const std::function<std::unique_ptr<core::Clock>()>& make_clock) {
  std::vector<std::unique_ptr<Collector>> collectors;
  collectors.push_back(proc::make_collector(make_clock()));
  collectors.push_back(amdgpu::make_collector(make_clock()));
  collectors.push_back(nvml::make_collector("libnvidia-ml.so.1", make_clock()));
  return collectors;
}

}  // namespace aaco::collectors
