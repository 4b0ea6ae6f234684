#pragma once

#include <cstdint>
#include <string>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::collectors::nvml {

// The part of NVML's C interface that is used here, declared by us: names, numbers and layouts are NVIDIA's published ABI, which
// is stable under each versioned name. Functions that a driver may lack are null.
struct Device;  // opaque to us too
using DeviceHandle = Device*;

inline constexpr int kSuccess = 0;
inline constexpr int kNotSupported = 3;
inline constexpr int kNoPermission = 4;
inline constexpr int kDriverNotLoaded = 9;
inline constexpr int kGpuIsLost = 15;
inline constexpr int kVersionMismatch = 18;

struct Utilization {
  unsigned gpu = 0, memory = 0;  // percent of the driver's last sampling period
};
struct Memory {
  unsigned long long total = 0, free = 0, used = 0;  // bytes
};
struct ViolationTime {
  unsigned long long reference_us = 0, violation_ns = 0;
};
// nvmlFieldValue_t
struct FieldValue {
  unsigned field = 0, scope = 0;
  long long time_us = 0, latency_us = 0;
  int value_type = 0;  // 1: unsigned int
  int result = 0;
  union {
    double f64;
    unsigned u32;
    unsigned long long u64;
  } value{};
};

inline constexpr int kClockGraphics = 0, kClockSm = 1, kClockMemory = 2;
inline constexpr int kTemperatureGpu = 0;
inline constexpr int kPolicyPower = 0, kPolicyThermal = 1;
inline constexpr int kEccCorrected = 0, kEccUncorrected = 1, kEccVolatile = 0;
inline constexpr unsigned kFieldPowerInstant = 186;  // mW; nvmlDeviceGetPowerUsage averages over a second on newer chips

// nvmlClocksEventReasons
inline constexpr unsigned long long kReasonSoftwarePowerCap = 0x4, kReasonHardwareSlowdown = 0x8, kReasonSyncBoost = 0x10,
                                    kReasonSoftwareThermal = 0x20, kReasonHardwareThermal = 0x40, kReasonPowerBrake = 0x80;

struct Api {
  core::SharedLibrary library;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_handle)(unsigned, DeviceHandle*) = nullptr;
  int (*utilization)(DeviceHandle, Utilization*) = nullptr;
  int (*memory)(DeviceHandle, Memory*) = nullptr;
  int (*power)(DeviceHandle, unsigned*) = nullptr;
  int (*energy)(DeviceHandle, unsigned long long*) = nullptr;
  int (*clock)(DeviceHandle, int, unsigned*) = nullptr;
  int (*temperature)(DeviceHandle, int, unsigned*) = nullptr;
  int (*event_reasons)(DeviceHandle, unsigned long long*) = nullptr;
  int (*violation)(DeviceHandle, int, ViolationTime*) = nullptr;
  int (*power_limit)(DeviceHandle, unsigned*) = nullptr;
  int (*pcie_generation)(DeviceHandle, unsigned*) = nullptr;
  int (*pcie_width)(DeviceHandle, unsigned*) = nullptr;
  int (*pcie_replays)(DeviceHandle, unsigned*) = nullptr;
  int (*ecc_errors)(DeviceHandle, int, int, unsigned long long*) = nullptr;
  int (*field_values)(DeviceHandle, int, FieldValue*) = nullptr;

  // What the library says of one of its error numbers.
  [[nodiscard]] std::string text(int error) const;
};

// Opens and initialises the library. unsupported where it or the driver is missing, permission where the driver refuses us.
core::Result<Api> open_api(const std::string& library);

}  // namespace aaco::collectors::nvml
