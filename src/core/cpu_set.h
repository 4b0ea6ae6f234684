#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::core {

// CPUs the calling thread may run on; empty if the kernel does not report them.
std::vector<int> allowed_cpus();
// In the kernel's list format: "0-2,5".
std::string cpu_list(const std::vector<int>& cpus);
// "0-3,8" -> 0 1 2 3 8; empty for what is not such a list, or one of more than 65536 numbers.
std::vector<std::int64_t> parse_cpu_list(std::string_view text);
// Restricts the calling thread and its children to these CPUs; false if the kernel refuses.
bool pin_to(const std::vector<int>& cpus);

}  // namespace aaco::core
