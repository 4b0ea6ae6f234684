#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// Which thread of a run slept while its caller waited for it, by the scheduler's events: "thread 4712 'worker' slept 2.51 ms per
// iteration (clock_nanosleep) while the caller waited for it (futex)". Empty where there are no such events.
std::optional<std::string> awaited_thread(std::span<const trace::IterationRow> iterations,
                                          std::span<const trace::SchedEventRow> events, const trace::NameTable& names);
core::Result<std::optional<std::string>> awaited_thread(const std::string& session_path);

}  // namespace aaco::workflows
