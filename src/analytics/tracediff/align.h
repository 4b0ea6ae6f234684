#pragma once

#include <vector>

#include "analytics/tracediff.h"

namespace aaco::analytics::tracediff {

// The places where two sequences of names differ, by their longest common subsequence. False where what lies between the common
// beginning and end is too long to align (memory grows with the product of the lengths): then it is one change.
bool align(const Step& a, const Step& b, std::vector<OrderChange>& changes);

}  // namespace aaco::analytics::tracediff
