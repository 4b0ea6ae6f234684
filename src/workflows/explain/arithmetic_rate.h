#pragma once

#include <vector>

#include "analytics/advice.h"
#include "analytics/signals.h"
#include "core/json.h"

namespace aaco::workflows {

// Whether computing at this rate can be limited by the arithmetic units: yes, no, or not known where the model's operations are
// not counted.
enum class ArithmeticLimit { likely, excluded, unknown };
ArithmeticLimit arithmetic_limit(const analytics::signals::Signals& signals);

// Says in a bottleneck document of class compute_bound at which rate the CPUs compute, and whether arithmetic throughput can be
// the limit. Other classes are unchanged.
core::Json with_arithmetic_rate(core::Json document, const analytics::signals::Signals& signals);

// Where arithmetic throughput is excluded, faster data types and more operations per call are no remedy: finding the functions
// that take the time is.
void follow_arithmetic_rate(const analytics::signals::Signals& signals, std::vector<analytics::advice::Recommendation>& list);

}  // namespace aaco::workflows
