#pragma once

#include <optional>
#include <span>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::steps {

// Ranges whose gaps take less than this share of the time from the first start to the last touch each other (our own judgement:
// PyTorch's profiler spends some microseconds between two of its steps).
inline constexpr double kTouching = 0.02;

// The steps of an imported trace (phase "step") from the start of each to the start of the next of its rank, in order of rank and
// time: what lies between two ranges (a data loader, a lock, an optimizer) belongs to the step before it. The last step of a rank
// has no such time and is left out, as is one whose next step was not recorded (its number is missing). Empty where the ranges
// touch each other or overlap, and where no step has a next one.
std::optional<std::vector<trace::IterationRow>> step_periods(std::span<const trace::IterationRow> iterations,
                                                             const trace::NameTable& names);

}  // namespace aaco::analytics::steps
