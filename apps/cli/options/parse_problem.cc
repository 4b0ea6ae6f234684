#include "cli/options/parse_problem.h"

#include <fmt/format.h>

#include <string_view>

#include "core/strings.h"

namespace aaco::cli {
namespace {

// "NAME: DETAIL", as CLI11 puts it.
struct Named {
  std::string name, detail;
};

Named split_name(const std::string& text) {
  const auto colon = text.find(": ");
  if (colon == std::string::npos) return {"", text};
  return {text.substr(0, colon), text.substr(colon + 2)};
}

bool is_option(std::string_view name) { return name.starts_with('-'); }
std::string kind_of(std::string_view name) { return is_option(name) ? "option" : "argument"; }

// "NAME: TEXT not in {a,b}", or what one of our own validators says.
std::string invalid_value(const std::string& text) {
  const auto [name, detail] = split_name(text);
  constexpr std::string_view kNotIn = " not in {";
  const auto cut = detail.rfind(kNotIn);
  if (cut == std::string::npos || !detail.ends_with('}')) return fmt::format("invalid value for '{}': {}", name, detail);
  const std::string value = detail.substr(0, cut);
  const std::string_view list = std::string_view(detail).substr(cut + kNotIn.size(), detail.size() - cut - kNotIn.size() - 1);
  const auto choices = core::split(list, ',');
  const std::string_view near = core::nearest(value, {choices.begin(), choices.end()});
  return fmt::format("invalid value '{}' for '{}': expected one of {}{}", value, name, core::join(choices, ", "),
                     near.empty() ? "" : fmt::format("; did you mean {}?", near));
}

// "Could not convert: NAME = TEXT", or "NAME: ..." of a flag that was given a value.
std::string not_converted(const std::string& text) {
  const auto [head, detail] = split_name(text);
  if (is_option(head)) return fmt::format("option '{}' does not take this value", head);
  const auto equals = detail.find(" = ");
  if (equals == std::string::npos) return text;
  const std::string value = detail.substr(equals + 3);
  return fmt::format("invalid value '{}' for '{}'", value.starts_with('[') ? value.substr(1, value.size() - 2) : value,
                     detail.substr(0, equals));
}

// "NAME: 1 required TEXT missing", "NAME: At Most 2 required but received 3".
std::string wrong_count(const std::string& text) {
  const auto [name, detail] = split_name(text);
  if (detail.ends_with(" missing")) return fmt::format("missing value for '{}'", name);
  const auto words = core::split(detail, ' ');
  if (detail.starts_with("At ") && words.size() == 7)
    return fmt::format("'{}' takes at {} {} value{}, got {}", name, words[1] == "Most" ? "most" : "least", words[2],
                       words[2] == "1" ? "" : "s", words[6]);
  if (detail.ends_with("flag override")) return fmt::format("option '{}' does not take a value", name);
  return text;
}

std::string unexpected(const std::string& text) {
  const std::string words = split_name(text).detail;
  const std::string first = words.substr(0, words.find(' '));
  return is_option(first) ? fmt::format("unknown option '{}'", first) : fmt::format("unexpected argument '{}'", first);
}

}  // namespace

std::string parse_problem(const CLI::Error& problem) {
  const std::string text = problem.what();
  const std::string kind = problem.get_name();
  if (kind == "ValidationError") return invalid_value(text);
  if (kind == "ConversionError") return not_converted(text);
  if (kind == "ArgumentMismatch") return wrong_count(text);
  if (problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) return unexpected(text);  // named after the verb
  constexpr std::string_view kRequired = " is required";
  if (kind == "RequiredError" && text.ends_with(kRequired)) {
    const std::string name = text.substr(0, text.size() - kRequired.size());
    return fmt::format("missing {} '{}'", kind_of(name), name);
  }
  return text;
}

}  // namespace aaco::cli
