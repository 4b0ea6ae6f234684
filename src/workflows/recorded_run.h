#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "hardware/fingerprint.h"
#include "trace/session.h"

// What a recording is of: its command as a fact, and its run time.
namespace aaco::workflows {

inline constexpr std::string_view kRunTime = "process.run_time_ns";

// The name of the program that a command runs: of "env -u A B=1 nice -n 5 ./program x" that is "program". Empty of an empty
// command.
std::string program_of(const std::vector<std::string>& command);

// The command as text without secrets, in which each path of a temporary folder is "(tmp)" and its last component, if that is not
// a generated name: two runs of one script give the same text. One line; of a long command its beginning and a hash.
std::string comparable_command(const std::vector<std::string>& command);

// Sets the facts `program` and `command` of a recording, by its request; of another request nothing is set.
void add_command_facts(const core::Json& request, hardware::Fingerprint& fingerprint);

// Wall time of a recorded command that ended by itself, ns. Empty of every other session: --duration or a signal ended it, or it
// was observed by --pid.
std::optional<double> run_time_ns(const trace::SessionManifest& manifest);
// Why a recording has no run time; empty: it has one, or it is none.
std::string why_no_run_time(const trace::SessionManifest& manifest);

}  // namespace aaco::workflows
