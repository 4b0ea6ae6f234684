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

}  // namespace

HelpFormatter::HelpFormatter(int width) : width_(width) {
  column_width(width < kNarrow ? kNarrowIndent : kNameColumns);
  label("Positionals", "Arguments");
}

// CLI11 writes "sides(0x)" for none, one or two.
std::string HelpFormatter::make_option_usage(const CLI::Option* option) const {
  return core::replace_all(Formatter::make_option_usage(option), "(0x)", "...");
}

// "-n, --iterations"
std::string HelpFormatter::make_option_name(const CLI::Option* option, bool positional) const {
  return core::replace_all(Formatter::make_option_name(option, positional), ",", ", ");
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return "";
  return " " + value_name(option->get_type_name()) + (option->get_expected_max() > 1 ? " ..." : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string text = Formatter::make_option_desc(option);
  if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
  if (option->get_required()) text += " (required)";
  return wrapped(text, width_ - static_cast<int>(get_column_width()));
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  const int column = static_cast<int>(get_column_width());
  const std::string name = "  " + verb->get_display_name(true), indent(static_cast<std::size_t>(column), ' ');
  const std::string text = core::replace_all(wrapped(verb->get_description(), width_ - column), "\n", "\n" + indent);
  const std::string gap = name.size() < indent.size() ? indent.substr(name.size()) : "\n" + indent;
  return name + (text.empty() ? "" : gap + text) + "\n";
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  const std::string text = paragraphs(Formatter::make_description(app), width_);
  return text.empty() ? text : text + "\n";
}

std::string HelpFormatter::make_footer(const CLI::App* app) const { return paragraphs(Formatter::make_footer(app), width_); }

}  // namespace aaco::cli
