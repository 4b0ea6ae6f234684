#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

struct Context;

// aaco lab: inject, faults, clean, score, train.
void add_lab(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);

}  // namespace aaco::cli
