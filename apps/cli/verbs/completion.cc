#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "core/strings.h"

namespace aaco::cli {
namespace {

struct Choice {
  std::string option;  // "--format"
  std::vector<std::string> values;
};

struct VerbWords {
  std::string name;
  std::string about;
  std::vector<std::string> words;  // options, values of arguments, and the verbs below it
  std::vector<Choice> choices;     // options that take one of a few values
  std::vector<VerbWords> below;
};

// What an option takes, where its help names it: "{perfetto,chrome}".
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  const std::string_view list = std::string_view(type).substr(open + 1, close - open - 1);
  std::vector<std::string> values;
  for (const std::string_view value : core::split(list, ',')) values.emplace_back(value);
  return values;
}

VerbWords words_of(const CLI::App& verb) {
  VerbWords words{verb.get_name(), verb.get_description(), {}, {}, {}};
  for (const CLI::Option* option : verb.get_options()) {
    const std::vector<std::string> values = values_of(*option);
    if (option->get_positional()) words.words.insert(words.words.end(), values.begin(), values.end());
    for (const std::string& name : option->get_lnames()) {
      words.words.push_back("--" + name);
      if (!values.empty()) words.choices.push_back({"--" + name, values});
    }
  }
  for (const CLI::App* below : verb.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    words.words.push_back(below->get_name());
    words.below.push_back(words_of(*below));
  }
  return words;
}

// A case for each verb; those of the verbs below it come first, as "hardware show". `line` has places for the pattern and the
// words.
std::string cases_of(const std::vector<VerbWords>& verbs, fmt::format_string<std::string, std::string> line) {
  std::string cases;
  for (const auto& verb : verbs) {
    for (const auto& below : verb.below)
      cases += fmt::format(line, "\"" + verb.name + " " + below.name + "\"", core::join(below.words, " "));
    cases += fmt::format(line, verb.name + "|\"" + verb.name + " \"*", core::join(verb.words, " "));
  }
  return cases;
}

// A case for each choice, of the verb's words and the option before the current word.
std::string choices_of(const std::vector<VerbWords>& verbs, fmt::format_string<std::string, std::string> line) {
  std::string cases;
  const auto add = [&](const std::string& verb, const std::vector<Choice>& choices) {
    for (const Choice& choice : choices)
      cases += fmt::format(line, "\"" + verb + "\"*\" " + choice.option + "\"", core::join(choice.values, " "));
  };
  for (const auto& verb : verbs) {
    for (const auto& below : verb.below) add(verb.name + " " + below.name, below.choices);
    add(verb.name + " ", verb.choices);
  }
  return cases;
}

std::string bash_script(const VerbWords& program) {
  std::string names;
  for (const auto& verb : program.below) names += verb.name + " ";
  return fmt::format(
      "_aaco() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} words=\n  [ \"$COMP_CWORD\" -gt 2 ] && "
      "verb=\"$verb ${{COMP_WORDS[2]}}\"\n  if [ \"$COMP_CWORD\" = 1 ]; then words=\"{}--help --version\"; else\n    case $verb "
      "in\n{}    esac\n    case \"$verb ${{COMP_WORDS[COMP_CWORD-1]}}\" in\n{}    esac\n  fi\n  COMPREPLY=($(compgen -W "
      "\"$words\" -- \"$current\"))\n  [ ${{#COMPREPLY[@]}} = 0 ] && "
      "COMPREPLY=($(compgen -f -- \"$current\"))\n}}\ncomplete -o filenames -F _aaco aaco\n",
      names, cases_of(program.below, "    {}) words=\"{}\" ;;\n"), choices_of(program.below, "    {}) words=\"{}\" ;;\n"));
}

std::string quoted(const std::string& text) { return core::replace_all(text, "'", "'\\''"); }

std::string zsh_script(const VerbWords& program) {
  std::string list;
  for (const auto& verb : program.below)
    list += fmt::format("    '{}:{}'\n", verb.name, quoted(core::replace_all(verb.about, ":", "\\:")));
  return fmt::format(
      "#compdef aaco\n_aaco() {{\n  local -a verbs=(\n{}  )\n  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n  "
      "local verb=$words[2]\n  (( CURRENT > 3 )) && verb=\"$verb $words[3]\"\n  case \"$verb $words[CURRENT-1]\" in\n{}  esac\n  "
      "case $verb in\n{}  esac\n  _files\n}}\n_aaco "
      "\"$@\"\n",
      list, choices_of(program.below, "    {}) compadd -- {}; return ;;\n"),
      cases_of(program.below, "    {}) compadd -- {} ;;\n"));
}

std::string fish_words(const std::string& where, const VerbWords& verb) {
  std::string out;
  for (const auto& word : verb.words) {
    const bool is_long = word.starts_with("--");
    out += fmt::format("complete -c aaco -n '{}' {} {}\n", where, is_long ? "-l" : "-a", is_long ? word.substr(2) : word);
  }
  for (const Choice& choice : verb.choices)
    out += fmt::format("complete -c aaco -n '{}' -l {} -x -a '{}'\n", where, choice.option.substr(2),
                       core::join(choice.values, " "));
  return out;
}

std::string fish_script(const VerbWords& program) {
  std::string out;
  for (const auto& verb : program.below) {
    out += fmt::format("complete -c aaco -n __fish_use_subcommand -a {} -d '{}'\n", verb.name, quoted(verb.about));
    const std::string seen = "__fish_seen_subcommand_from " + verb.name;
    std::string none_below = seen;
    for (const auto& below : verb.below) none_below += "; and not __fish_seen_subcommand_from " + below.name;
    out += fish_words(none_below, verb);
    for (const auto& below : verb.below) out += fish_words(seen + "; and __fish_seen_subcommand_from " + below.name, below);
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("completion", "Print the completion script for bash, zsh or fish");
  auto shell = std::make_shared<std::string>();
  verb->add_option("shell", *shell, "Shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([&context, &app, shell] {
    const VerbWords program = words_of(app);
    context.print(*shell == "bash" ? bash_script(program) : *shell == "zsh" ? zsh_script(program) : fish_script(program));
  });
}

}  // namespace aaco::cli
