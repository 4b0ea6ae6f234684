#pragma once

#include <string>
#include <string_view>

namespace aaco::hooks {

// Whether an ELF file of x86-64 contains a GPU runtime itself: its symbol table defines a launch function. False where it is
// stripped, unreadable or of another kind.
bool has_static_runtime(const std::string& path);
bool has_static_runtime_bytes(std::string_view file);
// The file name of the program that /proc/PID/exe leads to.
std::string program_name(const std::string& link);

}  // namespace aaco::hooks
