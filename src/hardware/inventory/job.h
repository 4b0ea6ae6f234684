#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"
#include "hardware/inventory.h"
#include "hardware/inventory/read.h"

namespace aaco::hardware::inventory {

// From the variables of launchers (Open MPI, PMI, PMIx, MVAPICH, Slurm, torchrun), /proc/PROCESS/cgroup and, of this process, the
// pod's own files.
JobIdentity read_job(const MachineFiles& files, const core::Environment& environment, const std::string& process = "self");

// Container and pod as they stand in cgroup paths and mount points.
void parse_container(std::string_view text, JobIdentity& into);

// ROCR_VISIBLE_DEVICES narrows what HIP numbers, HIP_VISIBLE_DEVICES (or CUDA_VISIBLE_DEVICES, which HIP honours) narrows that;
// CUDA_VISIBLE_DEVICES narrows NVIDIA devices. Entries are indices or unique ids.
VisibleDevices visible_devices(const core::Environment& environment, const std::vector<GpuInfo>& gpus);

}  // namespace aaco::hardware::inventory
