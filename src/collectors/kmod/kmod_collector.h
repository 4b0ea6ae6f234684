#pragma once

#include <functional>
#include <memory>

#include "collectors/collector.h"
#include "collectors/kmod/device.h"
#include "core/clock.h"
#include "core/result.h"

namespace aaco::collectors::kmod {

using OpenDevice = std::function<core::Result<std::shared_ptr<Device>>(const SysRoot&)>;

// What AACO's kernel module measures. Without the module only the GPU memory of the process is left, read from /proc.
std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock = std::make_unique<core::SystemClock>(),
                                          OpenDevice open = open_device);

}  // namespace aaco::collectors::kmod
