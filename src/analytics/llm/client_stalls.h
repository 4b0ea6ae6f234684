#pragma once

#include <string>
#include <vector>

#include "analytics/llm.h"

namespace aaco::analytics::llm {

// What single stalls of the client added to the quantiles of TTFT and E2EL that are printed and, in a closed loop, to the time of
// the load: a sentence for each kind. A request that was due within a stall was late by at most the rest of it, and a response
// that was read within kStallTurnNs of its end may have waited since it began. A quantile is moved where it is beyond the
// interval of the one without both (matters()); quantiles of ticks do not show a stall that is rare.
std::vector<std::string> moved_by_stalls(const Load& load, const OwnState& state);

}  // namespace aaco::analytics::llm
