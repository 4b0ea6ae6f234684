#pragma once

#include "collectors/collector.h"
#include "core/result.h"

namespace aaco::collectors::ebpf {

// What a refusal of the kernel (a negative errno) means to the user who met it.
core::Error refused(int code);

// Programs see the machine's own process numbers. In a container with numbers of its own they would match nobody, or somebody
// else: unsupported there.
core::Status sees_the_machines_processes(const SysRoot& root);

}  // namespace aaco::collectors::ebpf
