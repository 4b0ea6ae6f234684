#include "collectors/clock_state.h"

#include "collectors/amdgpu/clock_settings.h"
#include "hardware/cpu_clock.h"

namespace aaco::collectors {

core::Json clock_state(const SysRoot& root) {
  return core::Json::object(
      {{"cpu", hardware::to_json(hardware::read_cpu_clock_state(root.path))}, {"gpus", amdgpu::clock_settings(root.path)}});
}

}  // namespace aaco::collectors
