#pragma once

#include <string>
#include <vector>

namespace aaco::core {

// CPUs the calling thread may run on; empty if the kernel does not report them.
std::vector<int> allowed_cpus();
// In the kernel's list format: "0-2,5".
std::string cpu_list(const std::vector<int>& cpus);
// Restricts the calling thread and its children to these CPUs; false if the kernel refuses.
bool pin_to(const std::vector<int>& cpus);

}  // namespace aaco::core
