#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

struct Context;

// Adds every verb of list.inc. A verb runs when its subcommand was parsed, and leaves its exit code in the context.
void add_verbs(CLI::App& app, Context& context);

}  // namespace aaco::cli
