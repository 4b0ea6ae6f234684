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

// Of the complete requests of a level: TTFT and TPOT that changed over the load, a sentence each with the shape that fits best: a
// step, a line, or a level and then a line. Either the medians of both halves differ, their intervals apart, or the values rise
// or fall steadily from the first to the last. The first wave of a closed loop and, for TPOT, the drain are no part of it.
std::vector<std::string> drifts_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names);

inline constexpr double kKeepsUp = 0.95;        // ended per due, below which a server does not keep up
inline constexpr double kBacklogGrowth = 1.5;   // of the open requests from the middle of the load to its end
inline constexpr double kFewestOfABacklog = 5;  // and so many more
// Of an open loop: that requests were due faster than they ended, and ever more were open. Empty: they were not.
std::string backlog_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names);

inline constexpr std::size_t kFewestOfAGroup = 10;  // requests, and a fifth of them
inline constexpr double kGroupStep = 1.3;           // between the slowest of one group and the fastest of the other
inline constexpr double kGroupRatio = 1.5;          // between their medians
// That the requests of a level are of two groups by their TPOT, with no request between. Empty: they are not known to be.
std::string groups_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names);

}  // namespace aaco::analytics::llm
