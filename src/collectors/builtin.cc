#include "collectors/amdgpu/amdgpu_collector.h"
#include "collectors/clock/clock_collector.h"
#include "collectors/collector.h"
#include "collectors/kmod/kmod_collector.h"
#include "collectors/nvml/nvml_collector.h"
#include "collectors/proc/proc_collector.h"
#include "collectors/smi/smi_collector.h"

namespace aaco::collectors {

std::vector<std::unique_ptr<Collector>> builtin_collectors() {
  std::vector<std::unique_ptr<Collector>> collectors;
  collectors.push_back(proc::make_collector());
  collectors.push_back(clock::make_collector());
  collectors.push_back(amdgpu::make_collector());
  collectors.push_back(nvml::make_collector());
  collectors.push_back(smi::make_collector());
  collectors.push_back(kmod::make_collector());
  return collectors;
}

}  // namespace aaco::collectors
