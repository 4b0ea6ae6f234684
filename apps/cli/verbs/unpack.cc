#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "workflows/store.h"

namespace aaco::cli {

void add_unpack(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("unpack", "Unpack a packed session into the sessions folder");
  auto packed = std::make_shared<std::string>();
  verb->add_option("file", *packed, "Packed session")->required();
  verb->callback([&context, packed] {
    const auto path = workflows::unpack(*packed, context.paths);
    if (!path) return context.fail(path.error());
    context.print(*path + "\n");
  });
}

}  // namespace aaco::cli
