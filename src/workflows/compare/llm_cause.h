#pragma once

#include <optional>
#include <span>

#include "analytics/regression.h"
#include "workflows/diff_cause.h"

namespace aaco::workflows {

// Where the difference of two loads on a server lies, by what the client saw of it: before the first token (queue and prefill),
// in the steps after it, or in both. The first metric is the one that decides. Empty: nothing changed, or it tells neither.
std::optional<SuspectedCause> llm_cause(std::span<const analytics::regression::MetricResult> metrics);

}  // namespace aaco::workflows
