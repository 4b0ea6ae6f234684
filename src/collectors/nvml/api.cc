#include "collectors/nvml/api.h"

namespace aaco::collectors::nvml {
namespace {

core::Status init_failed(const Api& api, int error) {
  const std::string message = "NVML initialization failed: " + api.text(error) + "; NVIDIA GPUs are not monitored";
  if (error == kNoPermission) return core::fail(core::ErrorCode::permission, message, "grant this user access to /dev/nvidia*");
  if (error == kVersionMismatch)
    return core::fail(core::ErrorCode::unsupported, message,
                      "driver and library versions differ (updated while loaded): reload the kernel module or reboot");
  if (error == kDriverNotLoaded) return core::fail(core::ErrorCode::unsupported, message, "load the driver: modprobe nvidia");
  return core::fail(core::ErrorCode::unsupported, message);
}

}  // namespace

std::string Api::text(int error) const {
  const char* const words = error_string != nullptr ? error_string(error) : nullptr;
  return words != nullptr ? words : "error " + std::to_string(error);
}

core::Result<Api> open_api(const std::string& library) {
  auto opened = core::SharedLibrary::open(library);
  if (!opened)
    return core::fail(core::ErrorCode::unsupported, "NVIDIA driver library not found (" + opened.error().message + ")",
                      "if the machine has an NVIDIA GPU: install its driver");
  Api api{.library = *opened};
  const auto load = [&](auto& function, const char* name) {
    function = api.library.function<std::remove_reference_t<decltype(function)>>(name);
  };
  int (*init)() = nullptr;
  load(init, "nvmlInit_v2");
  load(api.shutdown, "nvmlShutdown");
  load(api.error_string, "nvmlErrorString");
  load(api.device_count, "nvmlDeviceGetCount_v2");
  load(api.device_handle, "nvmlDeviceGetHandleByIndex_v2");
  if (init == nullptr || api.shutdown == nullptr || api.device_count == nullptr || api.device_handle == nullptr)
    return core::fail(core::ErrorCode::unsupported, library + " lacks NVML version 2 functions; NVIDIA GPUs are not monitored",
                      "install a newer driver (2014 or later)");
  load(api.utilization, "nvmlDeviceGetUtilizationRates");
  load(api.memory, "nvmlDeviceGetMemoryInfo");
  load(api.power, "nvmlDeviceGetPowerUsage");
  load(api.energy, "nvmlDeviceGetTotalEnergyConsumption");
  load(api.clock, "nvmlDeviceGetClockInfo");
  load(api.temperature, "nvmlDeviceGetTemperature");
  load(api.event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (api.event_reasons == nullptr) load(api.event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  load(api.violation, "nvmlDeviceGetViolationStatus");
  load(api.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  load(api.pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  load(api.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  load(api.pcie_replays, "nvmlDeviceGetPcieReplayCounter");
  load(api.ecc_errors, "nvmlDeviceGetTotalEccErrors");
  load(api.field_values, "nvmlDeviceGetFieldValues");
  if (const int error = init(); error != kSuccess) AACO_TRY(init_failed(api, error));
  return api;
}

}  // namespace aaco::collectors::nvml
