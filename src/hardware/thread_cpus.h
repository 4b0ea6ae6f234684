#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace aaco::hardware {

// The CPUs that the threads of a process may use together: a runtime may pin each to a CPU of its own. `process`: a number or
// "self". Empty if unknown.
std::set<std::int64_t> cpus_of_threads(const std::string& root, const std::string& process);

}  // namespace aaco::hardware
