#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/verbs.h"
#include "core/strings.h"

namespace aaco::cli {
namespace {

struct VerbWords {
  std::string name;
  std::string about;
  std::vector<std::string> options;
};

std::vector<VerbWords> words_of(const CLI::App& app) {
  std::vector<VerbWords> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    VerbWords words{verb->get_name(), verb->get_description(), {}};
    for (const CLI::Option* option : verb->get_options())
      for (const std::string& name : option->get_lnames()) words.options.push_back("--" + name);
    for (const CLI::App* nested : verb->get_subcommands([](const CLI::App*) { return true; }))
      words.options.push_back(nested->get_name());
    verbs.push_back(std::move(words));
  }
  return verbs;
}

std::string bash_script(const std::vector<VerbWords>& verbs) {
  std::string names, cases;
  for (const auto& verb : verbs) {
    names += (names.empty() ? "" : " ") + verb.name;
    cases += fmt::format("    {}) words=\"{}\" ;;\n", verb.name, core::join(verb.options, " "));
  }
  return fmt::format(
      "_aaco() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} words=\n  if [ \"$COMP_CWORD\" = 1 ]; then words=\"{} --help "
      "--version\"; else\n"
      "    case ${{COMP_WORDS[1]}} in\n{}    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [ ${{#COMPREPLY[@]}} = 0 ] && COMPREPLY=($(compgen -f -- \"$current\"))\n}}\ncomplete -o filenames -F _aaco aaco\n",
      names, cases);
}

std::string quoted(const std::string& text) { return core::replace_all(text, "'", "'\\''"); }

std::string zsh_script(const std::vector<VerbWords>& verbs) {
  std::string list, cases;
  for (const auto& verb : verbs) {
    list += fmt::format("    '{}:{}'\n", verb.name, quoted(core::replace_all(verb.about, ":", "\\:")));
    cases += fmt::format("    {}) compadd -- {} ;;\n", verb.name, core::join(verb.options, " "));
  }
  return fmt::format(
      "#compdef aaco\n_aaco() {{\n  local -a verbs=(\n{}  )\n  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n  "
      "case $words[2] in\n{}  esac\n  _files\n}}\n_aaco \"$@\"\n",
      list, cases);
}

std::string fish_script(const std::vector<VerbWords>& verbs) {
  std::string out;
  for (const auto& verb : verbs) {
    out += fmt::format("complete -c aaco -n __fish_use_subcommand -a {} -d '{}'\n", verb.name, quoted(verb.about));
    for (const auto& option : verb.options) {
      const bool is_long = option.starts_with("--");
      out += fmt::format("complete -c aaco -n '__fish_seen_subcommand_from {}' {} {}\n", verb.name, is_long ? "-l" : "-a",
                         is_long ? option.substr(2) : option);
    }
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("completion", "Print the completion script of a shell: bash, zsh or fish");
  auto shell = std::make_shared<std::string>();
  verb->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([&context, &app, shell] {
    const auto verbs = words_of(app);
    context.print(*shell == "bash" ? bash_script(verbs) : *shell == "zsh" ? zsh_script(verbs) : fish_script(verbs));
  });
}

}  // namespace aaco::cli
