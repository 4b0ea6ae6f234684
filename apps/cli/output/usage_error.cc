#include "cli/output/usage_error.h"

#include <algorithm>
#include <array>

#include "cli/options/parse_problem.h"
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

// What other tools of this field are called with, and the command here.
struct OtherCommand {
  std::string_view word, hint;
};
constexpr std::array kOtherCommands = {
    OtherCommand{"profile",
                 "'aaco run --profile --model MODEL' profiles a model, 'aaco record --profile -- COMMAND' a program; "},
    OtherCommand{"monitor", "'aaco record --pid PID' observes a running process; "},
};

std::string other_command(std::string_view word) {
  for (const OtherCommand& one : kOtherCommands)
    if (one.word == word) return std::string(one.hint);
  return {};
}

std::string meant(const std::string& word, const std::vector<std::string>& names) {
  const std::string_view near = core::nearest(word, {names.begin(), names.end()});
  return near.empty() ? "" : "did you mean " + std::string(near) + "? ";
}

// "one of add, ls, show; ". The program's own are too many for a line.
std::string one_of(const CLI::App* app) {
  constexpr std::size_t kMaxListed = 12;
  const std::vector<std::string> names = verbs_of(app);
  const bool all = names.size() <= kMaxListed;
  const std::vector<std::string> listed(names.begin(), all ? names.end() : names.begin() + kMaxListed);
  return (all ? "one of " : "for example ") + core::join(listed, ", ") + "; ";
}

}  // namespace

std::string usage_error(const CLI::App* app, const CLI::Error& problem) {
  const CLI::App* verb = reached(app);
  const std::string of_verb = verb == app ? "" : " for '" + verb_path(verb) + "'";
  const std::string help = "see '" + verb_path(verb) + " --help'";
  std::string what = parse_problem(problem);
  std::string hint;
  const std::vector<std::string> rest = app->remaining(true);
  const auto end = std::find(rest.begin(), rest.end(), "--");  // what follows is no option of this verb
  const auto option = std::find_if(rest.begin(), end, [](const std::string& word) { return word.starts_with("-"); });
  const bool verb_missing = problem.get_name() == "RequiredError" && verb->get_require_subcommand_min() > 0;
  const bool of_program = verb == app && !rest.empty() && !rest.front().starts_with("-");
  if (of_program && !other_command(rest.front()).empty()) {
    what = "unknown subcommand '" + rest.front() + "'";
    hint = other_command(rest.front());
  } else if (option != end) {
    const std::string name = option->substr(0, option->find('='));
    what = "unknown option '" + name + "'" + of_verb;
    hint = meant(name, options_of(verb));
  } else if (!rest.empty() && rest.front() != "--" && !verbs_of(verb).empty()) {
    what = "unknown subcommand '" + rest.front() + "'" + of_verb;
    hint = meant(rest.front(), verbs_of(verb));
    if (hint.empty()) hint = one_of(verb);
  } else if (verb_missing) {
    what = "missing subcommand" + of_verb;
    hint = one_of(verb);
  }
  return "aaco: " + what + "\n  hint: " + hint + help + "\n";
}

}  // namespace aaco::cli
