#include "cli/options/isolation_options.h"

#include <CLI/CLI.hpp>

namespace aaco::cli {

void add_isolation_options(CLI::App& app, workflows::IsolationRequest& request) {
  app.add_option("--isolate", request.level, "Isolate the run from other load: light, standard or strict (see 'aaco capsule ls')")
      ->type_name("LEVEL");
  app.add_option("--isolate-set", request.changes, "Set an isolation switch, NAME=VALUE; NAME= disables it (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

}  // namespace aaco::cli
