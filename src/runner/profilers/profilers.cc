#include "runner/profilers.h"

#include <algorithm>
#include <array>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "core/subprocess.h"

namespace aaco::runner::profilers {
namespace {

using core::ErrorCode;

constexpr std::int64_t kVersionTimeoutNs = 20'000'000'000;

struct Domain {
  std::string_view name;
  std::string_view rocprofv3;
  std::string_view rocprof;  // empty: it cannot
  bool by_default = false;
};
// rocprof 1 traces copies with the HIP calls that ask for them.
constexpr auto kDomains = std::to_array<Domain>({
    {"kernel", "--kernel-trace", "--stats", true},
    {"hip", "--hip-trace", "--hip-trace", true},
    {"hsa", "--hsa-trace", "--hsa-trace", false},
    {"marker", "--marker-trace", "--roctx-trace", true},
    {"copy", "--memory-copy-trace", "--hip-trace", true},
    {"memory", "--memory-allocation-trace", "", false},
    {"scratch", "--scratch-memory-trace", "", false},
    {"rccl", "--rccl-trace", "", false},
});

// The first "1.2" or "1.2.3" of a text.
std::string version_in(std::string_view text) {
  constexpr std::string_view kParts = "0123456789.";
  for (std::size_t at = text.find_first_of("0123456789"); at != std::string_view::npos;
       at = text.find_first_of("0123456789", text.find_first_not_of(kParts, at))) {
    const auto end = text.find_first_not_of(kParts, at);
    std::string_view version = text.substr(at, end == std::string_view::npos ? end : end - at);
    while (version.ends_with('.')) version.remove_suffix(1);
    if (version.find('.') != std::string_view::npos && version.size() <= 32) return std::string(version);
    if (end == std::string_view::npos) break;
  }
  return {};
}

// What it says behind "version:", or the first version in its answer.
std::string ask_version(const std::string& path) {
  core::Command command{{path, "--version"}, {}, {}, core::Command::Output::capture, kVersionTimeoutNs, 1 << 16};
  const auto answer = core::run_command(command);
  if (!answer || answer->timed_out) return {};
  const std::string text = answer->output + "\n" + answer->error_output;
  for (const std::string_view line : core::split(text, '\n'))
    if (core::trim(line).starts_with("version:"))
      if (std::string version = version_in(line); !version.empty()) return version;
  return version_in(text);
}

std::vector<std::string> unique_words(std::string_view list) {
  std::vector<std::string> words;
  for (const std::string_view part : core::split(list, ',')) {
    const std::string word(core::trim(part));
    if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

// rocprofv3 0.5 and older has its counters in a file.
bool takes_counters_as_arguments(const std::string& version) {
  if (!version.starts_with("0.")) return true;
  const auto minor = core::parse_i64(version.substr(2, version.find('.', 2) - 2));
  return !minor || *minor > 5;
}

core::Result<std::string> write_counters(const ProfileRequest& request) {
  const std::string path = core::join_path(request.folder, "counters.txt");
  AACO_TRY(core::write_file_atomic(path, "pmc: " + core::join(request.counters, " ") + "\n"));
  return path;
}

// Counters go to a folder of their own, named as a pass: the importer then joins them with the trace by dispatch.
core::Result<ProfileCommand> rocprofv3_command(const Profiler& profiler, const ProfileRequest& request, bool counters) {
  ProfileCommand command{{profiler.path}, counters ? "counters" : "trace"};
  auto& words = command.arguments;
  std::string folder = request.folder;
  if (counters) {
    folder = core::join_path(folder, "pmc_1");
    if (takes_counters_as_arguments(profiler.version)) {
      words.emplace_back("--pmc");
      words.insert(words.end(), request.counters.begin(), request.counters.end());
    } else {
      AACO_ASSIGN(const std::string path, write_counters(request));
      words.insert(words.end(), {"-i", path});
    }
  }
  for (const Domain& domain : kDomains)
    if (!counters && std::find(request.domains.begin(), request.domains.end(), domain.name) != request.domains.end())
      words.emplace_back(domain.rocprofv3);
  words.insert(words.end(), {"--output-format", "csv", "-d", folder, "-o", "out", "--"});
  words.insert(words.end(), request.command.begin(), request.command.end());
  return command;
}

core::Result<ProfileCommand> rocprof_command(const Profiler& profiler, const ProfileRequest& request, bool counters) {
  ProfileCommand command{{profiler.path}, counters ? "counters" : "trace"};
  auto& words = command.arguments;
  if (counters) {
    AACO_ASSIGN(const std::string path, write_counters(request));
    words.insert(words.end(), {"-i", path, "-o", core::join_path(request.folder, "pmc_1_results.csv")});
  } else {
    for (const Domain& domain : kDomains) {
      if (std::find(request.domains.begin(), request.domains.end(), domain.name) == request.domains.end()) continue;
      if (domain.rocprof.empty())
        return core::fail(ErrorCode::unsupported, "rocprof cannot trace the domain '" + std::string(domain.name) + "'",
                          "use rocprofv3 (package rocprofiler-sdk), or omit the domain");
      if (std::find(words.begin(), words.end(), domain.rocprof) == words.end()) words.emplace_back(domain.rocprof);
    }
    words.insert(words.end(), {"--timestamp", "on", "-o", core::join_path(request.folder, "results.csv")});
  }
  words.insert(words.end(), request.command.begin(), request.command.end());
  return command;
}

}  // namespace

std::string_view to_string(Tool tool) { return tool == Tool::rocprofv3 ? "rocprofv3" : "rocprof"; }

core::Result<Profiler> find_profiler(const std::string& path_variable) {
  for (const Tool tool : {Tool::rocprofv3, Tool::rocprof})
    if (const auto path = core::find_program(std::string(to_string(tool)), path_variable))
      return Profiler{tool, *path, ask_version(*path)};
  return core::fail(ErrorCode::unsupported, "no GPU profiler found: neither rocprofv3 nor rocprof is on PATH",
                    "install the rocprofiler-sdk package for your ROCm version and add its bin folder (/opt/rocm/bin) to PATH, "
                    "or run without GPU profiling; 'aaco import' reads traces recorded elsewhere");
}

std::vector<std::string> known_domains() {
  std::vector<std::string> names;
  for (const Domain& domain : kDomains) names.emplace_back(domain.name);
  return names;
}

std::vector<std::string> default_domains() {
  std::vector<std::string> names;
  for (const Domain& domain : kDomains)
    if (domain.by_default) names.emplace_back(domain.name);
  return names;
}

core::Result<std::vector<std::string>> parse_domains(std::string_view list) {
  const std::vector<std::string> known = known_domains();
  const std::vector<std::string> asked = unique_words(list);
  for (const std::string& word : asked)
    if (std::find(known.begin(), known.end(), word) == known.end())
      return core::fail(ErrorCode::invalid_argument, "'" + word + "' is not a GPU profiler domain",
                        "use one of: " + core::join(known, ", "));
  if (asked.empty()) return core::fail(ErrorCode::invalid_argument, "no domain given", "use one of: " + core::join(known, ", "));
  std::vector<std::string> ordered;
  for (const std::string& name : known)
    if (std::find(asked.begin(), asked.end(), name) != asked.end()) ordered.push_back(name);
  return ordered;
}

core::Result<std::vector<std::string>> parse_counters(std::string_view list) {
  const std::vector<std::string> names = unique_words(list);
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_[]:.";
  for (const std::string& name : names)
    if (name.find_first_not_of(kAllowed) != std::string::npos || name.front() == '-')
      return core::fail(ErrorCode::invalid_argument, "'" + name + "' is not a valid counter name",
                        "'rocprofv3 --list-avail' (or 'rocprofv3-avail list') lists the counters of this GPU");
  if (names.empty()) return core::fail(ErrorCode::invalid_argument, "no counter given", "for example SQ_WAVES,GRBM_GUI_ACTIVE");
  return names;
}

core::Result<std::vector<ProfileCommand>> build_commands(const Profiler& profiler, const ProfileRequest& request) {
  if (request.command.empty()) return core::fail(ErrorCode::invalid_argument, "no command to profile");
  std::vector<ProfileCommand> commands;
  for (const bool counters : {false, true}) {
    if (counters ? request.counters.empty() : request.domains.empty()) continue;
    auto command = profiler.tool == Tool::rocprofv3 ? rocprofv3_command(profiler, request, counters)
                                                    : rocprof_command(profiler, request, counters);
    if (!command) return tl::unexpected<core::Error>(std::move(command.error()));
    commands.push_back(std::move(*command));
  }
  if (commands.empty()) return core::fail(ErrorCode::invalid_argument, "no domain or counter requested");
  return commands;
}

std::vector<std::string> other_tools(const std::vector<std::pair<std::string, std::string>>& environment) {
  constexpr auto kWords = std::to_array<std::string_view>({"rocprof", "roctracer", "rocprofiler", "omnitrace", "libkineto"});
  std::vector<std::string> found;
  for (const auto& [name, value] : environment) {
    if (value.empty()) continue;
    const bool names_a_tool = std::any_of(
        kWords.begin(), kWords.end(), [&, &text = value](std::string_view word) { return text.find(word) != std::string::npos; });
    const bool registers = name == "HSA_TOOLS_LIB" || name == "ROCP_TOOL_LIB" || name == "ROCP_TOOL_LIBRARIES" ||
                           (name == "LD_PRELOAD" && names_a_tool);
    if (registers) found.push_back(name + "=" + value);
  }
  return found;
}

}  // namespace aaco::runner::profilers
