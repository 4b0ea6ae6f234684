#pragma once

#include <string>
#include <vector>

namespace aaco::laboratory {

// CPUs the calling thread may run on; empty where the kernel does not say.
std::vector<int> allowed_cpus();
// As the kernel lists them: "0-2,5".
std::string cpu_list(const std::vector<int>& cpus);
// Makes the calling thread, and what it starts, run on these CPUs alone; false where the kernel refuses.
bool pin_to(const std::vector<int>& cpus);

}  // namespace aaco::laboratory
