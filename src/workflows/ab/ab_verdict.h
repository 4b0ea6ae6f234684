#pragma once

#include <array>
#include <vector>

#include "analytics/ab_rounds.h"
#include "core/result.h"
#include "workflows/ab_request.h"

namespace aaco::workflows {

// What differs between the sides. Only another problem (shapes, batch) forbids to compare: everything else is what is being
// tried.
std::vector<hardware::Difference> ab_differences(std::vector<hardware::Fact> a, std::vector<hardware::Fact> b);

inline constexpr double kDetectableBeyond = 0.03;  // the threshold, where the request says nothing
// Fails with invalid_argument where detectable_ratio is not above the threshold: no comparison decides a change within it.
core::Status check_detectable(const AbRequest& request);

// `items`: that a call of each side works on.
analytics::regression::AbRule rule_of(const AbRequest& request, const std::array<double, 2>& items);

// Fills verdict, metrics and rounds of the outcome (analytics/ab_rounds.h decides).
void fill_verdict(const std::vector<analytics::regression::AbRoundBlocks>& rounds, const analytics::regression::AbRule& rule,
                  AbOutcome& outcome);

// The answer where the sides work on other problems.
void refuse_comparison(AbOutcome& outcome);

}  // namespace aaco::workflows
