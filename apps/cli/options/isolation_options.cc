#include "cli/options/isolation_options.h"

#include <CLI/CLI.hpp>

namespace aaco::cli {

void add_isolation_options(CLI::App& app, workflows::IsolationRequest& request) {
  app.add_option("--isolate", request.level, "Keep the rest of the machine out: light, standard, strict ('aaco capsule ls')")
      ->type_name("LEVEL");
  app.add_option("--isolate-set", request.changes, "Set a switch of the isolation, NAME=VALUE; NAME= leaves it out (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

}  // namespace aaco::cli
