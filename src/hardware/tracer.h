#pragma once

#include <cstdint>
#include <string>

namespace aaco::hardware {

// The program that traces a process by ptrace ("strace", "gdb"), by TracerPid of `root`/proc/ID/status; "unknown" where it is
// traced and its tracer cannot be read (another PID namespace). Empty: not traced, or the process is gone.
std::string tracer_of(const std::string& root, std::int64_t process_id);

}  // namespace aaco::hardware
