#pragma once

#include <optional>
#include <vector>

#include "core/result.h"
#include "workflows/compare/record_account.h"
#include "workflows/diff_cause.h"

namespace aaco::workflows {

// Why the run times of two sides of recordings differ: the mean account of each side, divided into parts that add up to the
// difference; the largest is the first cause, and each other part that explains a large share is named beside it. Then what
// differs between the sides (command, limits, preloaded libraries). Empty where a side is no recording with a run time or its
// parts cannot be told.
core::Result<std::optional<SuspectedCause>> cause_of_recordings(const ComparedSide& a, const ComparedSide& b,
                                                                const analytics::regression::MetricResult& decided,
                                                                const std::vector<hardware::Difference>& differences);

// Why two sides of recordings differ, where their run times without waits for a CPU decide, or their CPU times: user and kernel
// time of the whole program.
core::Result<std::optional<SuspectedCause>> cause_of_own_times(const ComparedSide& a, const ComparedSide& b,
                                                               const analytics::regression::MetricResult& decided,
                                                               const std::vector<hardware::Difference>& differences);

// The same of two accounts.
SuspectedCause cause_of_accounts(const RecordAccount& a, const RecordAccount& b,
                                 const std::vector<hardware::Difference>& differences);

// What to do where the run times of recordings are not decided: an idle machine does not help a program that sleeps. Empty:
// nothing better than the usual.
std::string next_of_recordings(const analytics::rootcause::Decomposition& difference);

}  // namespace aaco::workflows
