#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// External GPU profilers: finding one on PATH and running a command under it.
namespace aaco::runner::profilers {

enum class Tool : std::uint8_t { rocprofv3, rocprof };
std::string_view to_string(Tool tool);

struct Profiler {
  Tool tool = Tool::rocprofv3;
  std::string path;
  std::string version;  // as reported ("1.1.0"); empty: not reported
};

// rocprofv3 if it is on PATH, otherwise rocprof; queries its version (timeout 20 s). Unsupported, with a remedy, without
// either.
core::Result<Profiler> find_profiler(const std::string& path_variable);

// What to trace: kernel, hip, hsa, marker, copy, memory, scratch, rccl.
std::vector<std::string> known_domains();
// Parses "kernel,hip": each once, in the order of known_domains(). Fails on an unknown domain and on an empty list.
core::Result<std::vector<std::string>> parse_domains(std::string_view list);
// The default domains: kernels, HIP calls, copies and markers.
std::vector<std::string> default_domains();
// Parses "SQ_WAVES,GRBM_COUNT": counter names, each once. Fails on invalid counter names.
core::Result<std::vector<std::string>> parse_counters(std::string_view list);

struct ProfileRequest {
  std::vector<std::string> command;   // the workload
  std::vector<std::string> domains;   // empty: no trace
  std::vector<std::string> counters;  // empty: no counters
  std::string folder;                 // where the profiler writes; exists
};

// A run of the workload under the profiler. Counters need separate runs: they serialise kernels.
struct ProfileCommand {
  std::vector<std::string> arguments;
  std::string what;  // "trace", "counters"
};
// Writes the profiler's input (the list of counters) to the folder. Fails if the profiler does not support the
// request.
core::Result<std::vector<ProfileCommand>> build_commands(const Profiler& profiler, const ProfileRequest& request);

// Environment variables that register another tool with the runtime: with two tools the second one sees no kernels.
// "HSA_TOOLS_LIB=/opt/...", in the order given.
std::vector<std::string> other_tools(const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace aaco::runner::profilers
