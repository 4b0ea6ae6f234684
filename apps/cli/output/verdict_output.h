#pragma once

#include <string>
#include <vector>

#include "workflows/diff.h"

namespace aaco::cli {

struct Context;

// regression 1, inconclusive and not-comparable 4, else 0.
int exit_code_for(const std::string& verdict);

// A comparison for a reader: what differs, the metrics, the kernels, the verdict with its reasons.
void print_verdict(const Context& context, const workflows::DiffOutcome& outcome);

}  // namespace aaco::cli
