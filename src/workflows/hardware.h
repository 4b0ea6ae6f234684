#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "hardware/registry.h"
#include "laboratory/benchmarks.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A device by id, alias, "ID@STATE", or "this": the entry that `probe` made of this machine's processor, else the shipped one of
// its name. What runs on it runs on hardware::as_shown() of the entry: one die of a board that a runtime shows as two devices.
core::Result<hardware::Device> find_device(const std::string& name, const Services& services);
// The entry itself, all its dies.
core::Result<hardware::Device> find_entry(const std::string& name, const Services& services);

// This machine's processor ("this") or, for work on GPUs, its first GPU, by the registry. not_found where the registry does not
// have it.
core::Result<hardware::Device> find_own_device(bool gpu, const Services& services);

// The registry's device that a GPU runtime describes so.
core::Result<hardware::Device> find_seen_gpu(const laboratory::GpuFacts& facts, const Services& services);

struct DeviceLine {
  hardware::Device device;
  bool own = false;  // an entry of the user's
};
// All devices, by id; `kind`: only those ("cpu", "gpu", "accelerator"), empty: all.
core::Result<std::vector<DeviceLine>> list_devices(const std::string& kind, const Services& services);

// Checks the registry, or only `files` where there are any.
core::Result<hardware::Audit> check_hardware(const std::vector<std::string>& files, const Services& services);

struct ProbeRequest {
  std::string backend;                  // cuda or hip: a GPU through that runtime; empty: the processor
  int gpu = 0;                          // as the runtime numbers them
  std::vector<std::string> gpu_worker;  // as in BenchmarkRequest
  std::int64_t memory_bytes = 0;        // of the copy's arrays; 0: by the caches
  bool dry_run = false;                 // measure, and write nothing
};
struct ProbeOutcome {
  hardware::Device device;
  std::string path;       // where the entry lies; empty after a dry run
  bool replaced = false;  // an older one
  // GPUs of this machine: "0: AMD Instinct MI300X is amd_instinct_mi300x_192gb", or why not. Of a GPU that the registry has: what
  // was measured beside what is published; nothing is written then.
  std::vector<std::string> known;
};
// Measures this machine's processor, or a GPU, and writes its entry to the user's registry.
core::Result<ProbeOutcome> probe_gpu(const ProbeRequest& request, const Services& services);
core::Result<ProbeOutcome> probe_hardware(const ProbeRequest& request, const Services& services);

core::Json to_json(const hardware::Audit& audit);

}  // namespace aaco::workflows
