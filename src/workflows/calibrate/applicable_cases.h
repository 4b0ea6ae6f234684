#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "laboratory/benchmarks.h"

namespace aaco::workflows {

// Takes the copies from other GPUs out of the suites where this process sees too few devices: they are no failures. Each is named
// with the reason in `left_out`. Fails with unsupported where no case is left.
core::Status leave_out_peers(int devices, std::vector<laboratory::BenchmarkSuite>& suites, std::vector<std::string>& left_out);

}  // namespace aaco::workflows
