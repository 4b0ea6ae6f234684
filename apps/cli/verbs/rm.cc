#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "workflows/store.h"

namespace aaco::cli {

void add_rm(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("rm", "Remove sessions");
  auto names = std::make_shared<std::vector<std::string>>();
  verb->add_option("session", *names, "Sessions")->required();
  verb->callback([&context, names] {
    for (const auto& name : *names) {
      const auto removed = workflows::remove(name, context.paths);
      if (!removed) return context.fail(removed.error());
      context.note("removed " + *removed);
    }
  });
}

}  // namespace aaco::cli
