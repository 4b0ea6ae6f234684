#include "cli/output/help_formatter.h"

#include <algorithm>

#include "core/strings.h"
#include "report/terminal.h"

namespace aaco::cli {
namespace {

constexpr int kNarrow = 70;      // columns, below which descriptions are printed below the names
constexpr int kMinColumns = 20;  // of a description
constexpr std::size_t kNameColumns = 30, kNarrowIndent = 6;

std::string wrapped(const std::string& text, int width) {
  return core::join(report::wrap(text, std::max(width, kMinColumns)), "\n");
}

bool is_prose(std::string_view line) { return !line.empty() && line.front() != ' '; }

// Indented lines as they are; of others each sentence's end that is a line's end stays one, and what lies between is one line.
std::string paragraphs(const std::string& text, int width) {
  std::vector<std::string> lines;
  bool goes_on = false;
  for (const std::string_view line : core::split_lines(text)) {
    if (goes_on && is_prose(line))
      lines.back() += " " + std::string(line);
    else
      lines.emplace_back(line);
    constexpr std::string_view kEnds = ".:!?";
    goes_on = is_prose(line) && kEnds.find(line.back()) == std::string_view::npos;
  }
  for (std::string& line : lines)
    if (is_prose(line)) line = wrapped(line, width);
  return core::join(lines, "\n") + (text.ends_with('\n') ? "\n" : "");
}

// CLI11's "INT:POSITIVE" and "TEXT:{a,b}" as a user reads them.
std::string value_name(const std::string& type) {
  const auto choices = type.find(":{");
  if (choices != std::string::npos) return type.substr(choices + 1);
  if (type.starts_with("INT") || type.starts_with("UINT")) return "N";
  return type.starts_with("FLOAT") ? "NUMBER" : type;
}

// The names of groups that CLI11 gives where none is set; versions differ in their case.
std::string heading(const std::string& group) {
  const std::string lower = core::to_lower(group);
  return lower == "options" ? "Options" : lower == "subcommands" ? "Subcommands" : group;
}

std::string usage_name(const CLI::Option* option) {
  const std::string name = option->get_name(true, false) + (option->get_expected_max() > 1 ? "..." : "");
  return option->get_required() ? name : "[" + name + "]";
}

std::string usage(const CLI::App* app, const std::string& name) {
  std::string line = "Usage:" + (name.empty() ? "" : " " + name);
  if (!app->get_options([](const CLI::Option* option) { return option->nonpositional(); }).empty()) line += " [OPTIONS]";
  for (const CLI::Option* option : app->get_options([](const CLI::Option* one) { return one->get_positional(); }))
    line += " " + usage_name(option);
  const auto named = [](const CLI::App* verb) { return !verb->get_disabled() && !verb->get_name().empty(); };
  if (!app->get_subcommands(named).empty()) line += app->get_require_subcommand_min() == 0 ? " [SUBCOMMAND]" : " SUBCOMMAND";
  return line + "\n";
}

}  // namespace

HelpFormatter::HelpFormatter(int width) : width_(width) { column_width(width < kNarrow ? kNarrowIndent : kNameColumns); }

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode /*mode*/) const {
  std::string text = app->get_description().empty() ? "" : paragraphs(app->get_description() + "\n", width_) + "\n";
  text += usage(app, name) + options(app) + commands(app) + "\n";
  return text + (app->get_footer().empty() ? "" : paragraphs(app->get_footer() + "\n", width_));
}

std::string HelpFormatter::row(const std::string& name, const std::string& text) const {
  const std::string indent(get_column_width(), ' ');
  const std::string lines = core::replace_all(wrapped(text, width_ - static_cast<int>(indent.size())), "\n", "\n" + indent);
  const std::string left = "  " + name;
  if (text.empty()) return left + "\n";
  return left + (left.size() < indent.size() ? indent.substr(left.size()) : "\n" + indent) + lines + "\n";
}

std::string HelpFormatter::option_row(const CLI::Option* option, bool positional) const {
  std::string name = core::replace_all(option->get_name(positional, !positional), ",", ", ");
  if (option->get_type_size() != 0)
    name += " " + value_name(option->get_type_name()) + (option->get_expected_max() > 1 ? " ..." : "");
  std::string text = option->get_description();
  if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
  if (option->get_required()) text += " (required)";
  return row(name, text);
}

std::string HelpFormatter::options(const CLI::App* app) const {
  std::string text;
  for (const CLI::Option* option : app->get_options([](const CLI::Option* one) { return one->get_positional(); }))
    text += option_row(option, true);
  if (!text.empty()) text = "\nArguments:\n" + text;
  for (const std::string& group : app->get_groups()) {
    const auto shown =
        app->get_options([&group](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); });
    if (group.empty() || shown.empty()) continue;
    text += "\n" + heading(group) + ":\n";
    for (const CLI::Option* option : shown) text += option_row(option, false);
  }
  return text;
}

std::string HelpFormatter::commands(const CLI::App* app) const {
  std::vector<std::string> groups;
  for (const CLI::App* verb : app->get_subcommands({}))
    if (!verb->get_group().empty() && std::find(groups.begin(), groups.end(), verb->get_group()) == groups.end())
      groups.push_back(verb->get_group());
  std::string text;
  for (const std::string& group : groups) {
    text += "\n" + heading(group) + ":\n";
    for (const CLI::App* verb : app->get_subcommands([&group](const CLI::App* one) { return one->get_group() == group; }))
      text += row(verb->get_display_name(true), verb->get_description());
  }
  return text;
}

}  // namespace aaco::cli
