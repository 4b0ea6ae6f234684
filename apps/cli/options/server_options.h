#pragma once

#include <string_view>

#include "server/server.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

struct Context;

// The options of `serve` and `dashboard`.
void add_serve_options(CLI::App& verb, server::ServeRequest& request);
// Serves until the program is asked to stop: Ctrl-C, SIGTERM.
void serve(Context& context, const server::ServeRequest& request);

}  // namespace aaco::cli
