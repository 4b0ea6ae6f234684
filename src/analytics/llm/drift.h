#pragma once

#include <span>
#include <string>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::llm {

inline constexpr double kDriftRatio = 1.5;         // between the medians of both halves
inline constexpr double kDriftFloorNs = 1e6;       // and more than so much
inline constexpr std::size_t kFewestOfAHalf = 20;  // values

// Of the complete requests of a level: median TTFT and TPOT that changed from the first half of the schedule to the second, a
// sentence each. The intervals of the medians are apart.
std::vector<std::string> drifts_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names);

}  // namespace aaco::analytics::llm
