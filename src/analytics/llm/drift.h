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
inline constexpr double kTrendRatio = 1.2;         // between both ends of a line through all values
inline constexpr double kTrendRank = 0.7;          // Spearman's correlation with the order from which a change is steady

// Of the complete requests of a level: TTFT and TPOT that changed over the schedule, a sentence each. Either the medians of both
// halves differ, their intervals apart, or the values rise or fall steadily from the first to the last.
std::vector<std::string> drifts_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names);

}  // namespace aaco::analytics::llm
