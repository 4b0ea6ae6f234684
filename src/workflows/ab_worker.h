#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/result.h"
#include "workflows/injected_delay.h"
#include "workflows/run.h"

namespace aaco::workflows {

// One configuration that a measuring process holds ready.
struct AbSide {
  RunRequest request;
  InjectedDelay delay;
};

// The measuring process of `aaco ab`: loads the sides, warms each up, then obeys the lines on standard input and answers each
// with one line of JSON on standard output, until its input ends. The first answer, unasked, is what was loaded. "run SIDE CALLS"
// times that many calls in a row; "outputs SIDE SEED FILE" runs once on inputs generated with the seed (0: the side's own inputs)
// and writes the outputs to the file (workflows/ab/worker_outputs.h). Whatever else writes to standard output goes to standard
// error.
core::Status serve_ab(const std::vector<AbSide>& sides, const Services& services);

}  // namespace aaco::workflows
