#pragma once

#include <string>
#include <vector>

#include "workflows/diff.h"

namespace aaco::cli {

struct Context;

// "a,b,c" -> its parts, trimmed; nothing for an empty text.
std::vector<std::string> list_of(const std::string& text);
// A share such as 5% between 0 and 1, or what is wrong with the option.
core::Result<double> parse_threshold(const std::string& text, const std::string& option);
// regression 1, inconclusive and not-comparable 4, else 0.
int exit_code_for(const std::string& verdict);

// A comparison for a reader: what differs, the metrics, the kernels, the verdict with its reasons.
void print_verdict(const Context& context, const workflows::DiffOutcome& outcome);

}  // namespace aaco::cli
