#include "workflows/ab_worker.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/ab_sides.h"
#include "cli/options/run_options.h"

namespace aaco::cli {
namespace {

core::Status serve(const Context& context, const std::vector<std::string>& words) {
  std::vector<workflows::AbSide> sides;
  for (const auto& side : split_sides(words)) {
    AACO_ASSIGN(auto parsed, parse_ab_side(side, "side " + std::to_string(sides.size())));
    sides.push_back(std::move(parsed));
  }
  for (auto& side : sides) AACO_TRY(enter_build(side.request, context));
  return workflows::serve_ab(sides, make_services(context));
}

}  // namespace

void add_ab_worker(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("ab-worker", "Worker process of 'aaco ab'");
  verb->group("");  // not for people
  auto words = std::make_shared<std::vector<std::string>>();
  verb->add_option("sides", *words, "Options of each side, separated by '--'");
  verb->positionals_at_end();
  verb->callback([&context, words] {
    if (const auto served = serve(context, *words); !served) context.fail(served.error());
  });
}

}  // namespace aaco::cli
