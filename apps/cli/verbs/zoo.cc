#include "workflows/zoo.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

void list_models(Context& context, bool json) {
  const auto lines = workflows::list_zoo(make_services(context));
  if (!lines) return context.fail(lines.error());
  if (json) {
    core::Json list = core::Json::array();
    for (const auto& line : *lines)
      list.push(
          core::Json::object({{"name", line.name}, {"title", line.title}, {"parameters", line.parameters}, {"path", line.path}}));
    return context.print_json(core::Json::object({{"schema_version", 1}, {"models", std::move(list)}}));
  }
  context.print(fmt::format("{:<18} {:>13}  {:<5} {}\n", "MODEL", "PARAMETERS", "BUILT", "DESCRIPTION"));
  for (const auto& line : *lines)
    context.print(fmt::format("{:<18} {:>13}  {:<5} {}\n", line.name, core::format_count(static_cast<double>(line.parameters)),
                              line.path.empty() ? "-" : "yes", line.title));
}

}  // namespace

void add_zoo(CLI::App& app, Context& context) {
  CLI::App* zoo = app.add_subcommand("zoo", "Generate well-known models with their real architectures and seeded random weights");
  zoo->require_subcommand(1);
  CLI::App* ls = zoo->add_subcommand("ls", "List models");
  auto json = std::make_shared<bool>(false);
  ls->add_flag("--json", *json, "Print JSON");
  ls->callback([&context, json] { list_models(context, *json); });

  CLI::App* make = zoo->add_subcommand("make", "Generate models and print their paths");
  auto names = std::make_shared<std::vector<std::string>>();
  auto seed = std::make_shared<std::uint64_t>(1);
  make->add_option("model", *names, "Models")->required();
  make->add_option("--seed", *seed, "Seed for the weights")->check(seed_number())->capture_default_str();
  make->callback([&context, names, seed] {
    for (const auto& name : *names) {
      const auto path = workflows::make_zoo_model(name, *seed, make_services(context));
      if (!path) return context.fail(path.error());
      context.progress("");
      context.print(*path + "\n");
    }
  });
}

}  // namespace aaco::cli
