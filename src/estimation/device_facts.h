#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hardware/device.h"

namespace aaco::estimation {

// What the estimators need of a device; specifications only.
struct DeviceFacts {
  std::string id;  // with "@STATE" where it is seen in a power state
  std::string vendor;
  std::string architecture;  // devices of one architecture run the same kernels
  bool is_cpu = false;
  bool is_accelerator = false;                // neither a CPU nor a GPU
  double compute_units = 0;                   // SMs, CUs, cores: tiles are dealt to these; 0: unknown
  double clock_hz = 0;                        // 0: unknown
  std::map<std::string, double> flops_per_s;  // dense peak by element type ("bf16"), the fastest engine that takes it
  double vector_flops_per_s = 0;              // fp32 on the engine that is no matrix unit; 0: unknown
  double memory_bytes_per_s = 0;              // 0: unknown
  double cache_bytes = 0;                     // the largest cache all units share; 0: none or unknown
  double power_watts = 0;                     // limit; 0: unknown
  double link_bytes_per_s = 0;                // one direction, to the other devices of a node; 0: unknown
  // Some peak is what a probe of the machine reached, which may have been disturbed: it is no limit of what the device can do.
  bool measured_peaks = false;
};

DeviceFacts facts_of(const hardware::Device& device);

// Both are CPUs, GPUs or other accelerators: measurements of one class say nothing of another's kernels.
inline bool same_class(const DeviceFacts& a, const DeviceFacts& b) {
  return a.is_cpu == b.is_cpu && a.is_accelerator == b.is_accelerator;
}

// "bf16", "BFloat16" -> "bfloat16": the hardware registry's name of a type; of what it does not name, the canonical one.
std::string registry_type(std::string_view type);

}  // namespace aaco::estimation
