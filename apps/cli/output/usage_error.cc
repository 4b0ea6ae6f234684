#include "cli/output/usage_error.h"

#include <algorithm>

#include "core/strings.h"

namespace aaco::cli {
namespace {

// The verb, or the verb of a verb, that was reached before the trouble.
const CLI::App* reached(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  return app;
}

std::string verb_path(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name() : verb_path(app->get_parent()) + " " + app->get_name();
}

std::vector<std::string> verbs_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app->get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* each = app; each != nullptr; each = each->get_parent())
    for (const CLI::Option* option : each->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string meant(const std::string& word, const std::vector<std::string>& names) {
  const std::string_view near = core::nearest(word, {names.begin(), names.end()});
  return near.empty() ? "" : "did you mean " + std::string(near) + "? ";
}

}  // namespace

std::string usage_error(const CLI::App* app, const CLI::Error& problem) {
  const CLI::App* verb = reached(app);
  const std::string help = verb_path(verb) + " --help";
  std::string what = problem.what();
  std::string next;
  const std::vector<std::string> rest = app->remaining(true);
  const auto end = std::find(rest.begin(), rest.end(), "--");  // what follows is no option of this verb
  const auto option = std::find_if(rest.begin(), end, [](const std::string& word) { return word.rfind("-", 0) == 0; });
  const bool verb_missing = problem.get_name() == "RequiredError" && verb->get_require_subcommand_min() > 0;
  if (option != end) {
    const std::string name = option->substr(0, option->find('='));
    what = "there is no option '" + name + "' of '" + verb_path(verb) + "'";
    next = meant(name, options_of(verb));
  } else if (verb_missing && !rest.empty()) {
    what = "there is no verb '" + rest.front() + "' of '" + verb_path(verb) + "'";
    next = meant(rest.front(), verbs_of(verb));
  } else if (verb_missing) {
    what = "what to do is missing: " + verb_path(verb) + " VERB";
  }
  return "aaco: " + what + "\n  what next: " + next + help + "\n";
}

}  // namespace aaco::cli
