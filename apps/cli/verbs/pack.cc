#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "workflows/store.h"

namespace aaco::cli {

void add_pack(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("pack", "Pack a session into a single file");
  auto name = std::make_shared<std::string>("latest");
  auto file = std::make_shared<std::string>();
  verb->add_option("session", *name, "Session")->capture_default_str();
  verb->add_option("-o,--output", *file, "Output file (default: ID.aaco)");
  verb->callback([&context, name, file] {
    const auto written = workflows::pack(*name, *file, context.paths);
    if (!written) return context.fail(written.error());
    context.print(*written + "\n");
  });
}

}  // namespace aaco::cli
