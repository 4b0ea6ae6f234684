#pragma once

#include <string_view>

#include "core/result.h"
#include "hardware/device.h"

namespace aaco::hardware {

// The state of boards whose dies are devices of their own to a runtime (MI250, MI250X): one of them.
inline constexpr std::string_view kOneDie = "one_die";

// What a program computes on: of such a board one die with its part of the memory and caches, else the device as it is.
core::Result<Device> as_shown(const Device& device);

}  // namespace aaco::hardware
