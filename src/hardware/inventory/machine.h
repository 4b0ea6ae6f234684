#pragma once

#include <string_view>

#include "core/environment.h"
#include "hardware/inventory.h"
#include "hardware/inventory/read.h"

namespace aaco::hardware::inventory {

// The parts of the inventory, each from its files below the root.
CpuInfo read_cpu_info(const MachineFiles& files);
OsInfo read_os_info(const MachineFiles& files);
MemoryInfo read_memory_info(const MachineFiles& files);

// Fills what /proc/cpuinfo says (x86 and Arm forms) of the first processor, and counts processors.
void parse_cpuinfo(std::string_view text, CpuInfo& into);
// "48K" -> 49152; empty for anything else.
std::optional<std::int64_t> parse_cache_size(std::string_view text);
// The options that change timing among those of the kernel's command line; nothing else of it is kept.
std::map<std::string, std::string> timing_options(std::string_view command_line);
// The value of KEY=value or KEY="value" in /etc/os-release.
std::string os_release_value(std::string_view text, std::string_view key);

}  // namespace aaco::hardware::inventory
