#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::llm {

// Energy of the server's machine over a level of load: CPU packages and GPUs, idle power included. Counters where there are any,
// otherwise mean power times time; a counter that covers most of the level is extended to all of it. Empty where no sensor covers
// the level, or one started again.
std::optional<double> joules_of(std::span<const trace::SystemEventRow> events, std::span<const trace::GpuEventRow> gpu,
                                const trace::NameTable& names, std::int32_t machine, std::int64_t from_ns, std::int64_t to_ns);
inline constexpr double kEnergyCovered = 0.8;  // share of the level between the first and the last reading of a sensor

}  // namespace aaco::analytics::llm
