#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "estimation/device_facts.h"
#include "estimation/kernel.h"
#include "estimation/roofline.h"

namespace aaco::estimation {

// What the trees see of a kernel: its shape, its time at the specification's ceilings, and how tiles and waves of the usual sizes
// fill the device. The number of features depends on the kernel's kind alone.
std::vector<float> features_of(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof,
                               const std::vector<std::string>& operators);
std::size_t feature_count(std::string_view kind);

// What the energy trees see beside that: the part of the ceilings that the time given leaves.
std::vector<float> energy_features_of(const Kernel& kernel, const Roofline& roof, double seconds);
std::size_t energy_feature_count();

// The floor that normalises measured and estimated times; what a device really needs is learnt on top of it.
double nominal_floor_s(const DeviceFacts& device);

}  // namespace aaco::estimation
