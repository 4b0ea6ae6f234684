#include "workflows/query_worker.h"

#include <CLI/CLI.hpp>

#include "cli/context.h"
#include "cli/stop_at_once.h"

namespace aaco::cli {

void add_query_worker(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("query-worker", "Worker process of 'aaco serve'");
  verb->group("");  // not for people
  verb->callback([&context] {
    stop_at_once();
    if (const auto served = workflows::serve_query(context.paths); !served) context.fail(served.error());
  });
}

}  // namespace aaco::cli
