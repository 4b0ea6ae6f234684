#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "workflows/diff.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

struct Context;

// regression 1, inconclusive and not-comparable 4, else 0.
int exit_code_for(const std::string& verdict);

// A comparison for a reader: what differs, the metrics, the kernels, the verdict with its reasons.
void print_verdict(const Context& context, const workflows::DiffOutcome& outcome);

// --json and --html of the verbs that compare.
struct VerdictOutput {
  bool json = false;
  std::string html;  // file to write
};
void add_verdict_output(CLI::App& verb, VerdictOutput& output);
// Writes the page, prints the JSON document, or, with neither, the text.
void show_verdict(Context& context, const workflows::DiffOutcome& outcome, const core::Json& document,
                  const VerdictOutput& output);

}  // namespace aaco::cli
