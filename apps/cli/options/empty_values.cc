#include "cli/options/empty_values.h"

#include <CLI/CLI.hpp>
#include <string>

namespace aaco::cli {

void refuse_empty_values(CLI::App& app) {
  const auto not_empty = [](const std::string& text) { return text.empty() ? std::string("the value is empty") : std::string(); };
  for (CLI::Option* option :
       app.get_options([](const CLI::Option* one) { return !one->get_positional() && one->get_items_expected_max() > 0; }))
    option->check(not_empty, "");
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) refuse_empty_values(*verb);
}

}  // namespace aaco::cli
