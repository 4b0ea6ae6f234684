#pragma once

#include <map>
#include <span>
#include <string>

#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// The system call in which the caller of a run slept longest inside its watched iterations, by cause of the sleep ("io", "peer",
// "timer", "lock": analytics::scheduling::to_string), by the scheduler's events. A cause without a call that is most of its sleep
// is left out.
std::map<std::string, std::string> sleep_calls(std::span<const trace::IterationRow> iterations,
                                               std::span<const trace::SchedEventRow> events, const trace::NameTable& names);
core::Result<std::map<std::string, std::string>> sleep_calls(const std::string& session_path);

}  // namespace aaco::workflows
