#pragma once

#include <optional>

#include "core/result.h"
#include "workflows/diff_cause.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

// Where each side is the trace of one rank of the same job: the rank that the other waits for in their collectives. Empty: other
// sides, no collectives in common, or none waits for the other.
core::Result<std::optional<SuspectedCause>> late_rank_of(const ComparedSide& a, const ComparedSide& b);
bool is_of_ranks(const SuspectedCause& cause);  // of late_rank_of()

}  // namespace aaco::workflows
