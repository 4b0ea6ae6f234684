#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// External GPU profilers: which one is on the path, and how a command is run under it.
namespace aaco::runner::profilers {

enum class Tool : std::uint8_t { rocprofv3, rocprof };
std::string_view to_string(Tool tool);

struct Profiler {
  Tool tool = Tool::rocprofv3;
  std::string path;
  std::string version;  // as it says itself ("1.1.0"); empty: it did not say
};

// rocprofv3 where it is on the path, else rocprof; asks it for its version, at most 20 s. Unsupported, with the remedy, without
// either.
core::Result<Profiler> find_profiler(const std::string& path_variable);

// What to trace: kernel, hip, hsa, marker, copy, memory, scratch, rccl.
std::vector<std::string> known_domains();
// Of "kernel,hip": each once, in known_domains()' order. Fails on an unknown one, naming those that there are, and on none.
core::Result<std::vector<std::string>> parse_domains(std::string_view list);
// What is traced where nothing is said: kernels, HIP calls, copies and markers.
std::vector<std::string> default_domains();
// Of "SQ_WAVES,GRBM_COUNT": names of counters, each once. Fails on what cannot be the name of one.
core::Result<std::vector<std::string>> parse_counters(std::string_view list);

struct ProfileRequest {
  std::vector<std::string> command;   // the workload
  std::vector<std::string> domains;   // empty: no trace
  std::vector<std::string> counters;  // empty: no counters
  std::string folder;                 // where the profiler writes; exists
};

// A run of the workload under the profiler. Counters need runs of their own: they serialise kernels.
struct ProfileCommand {
  std::vector<std::string> arguments;
  std::string what;  // "trace", "counters"
};
// Writes what the profiler wants to read (the list of counters) into the folder. Fails where the profiler cannot do what is
// asked.
core::Result<std::vector<ProfileCommand>> build_commands(const Profiler& profiler, const ProfileRequest& request);

// Variables of the environment that register another tool with the runtime: two at a time leave the second without kernels.
// "HSA_TOOLS_LIB=/opt/...", in the order given.
std::vector<std::string> other_tools(const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace aaco::runner::profilers
