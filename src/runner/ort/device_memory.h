#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runner/backend.h"

namespace aaco::runner::ort {

// Where a provider keeps the tensors between its nodes, by the name that OrtApi::CreateMemoryInfo takes for it; empty: host
// memory.
struct DeviceMemory {
  std::string name;
  int device = 0;
  bool operator==(const DeviceMemory&) const = default;
};

// Of the first provider with device memory that took nodes (`placement`: nodes by provider); the device is the option device_id.
DeviceMemory device_memory(const std::map<std::string, std::int64_t>& placement,
                           const std::map<std::string, std::string>& provider_options);

}  // namespace aaco::runner::ort
