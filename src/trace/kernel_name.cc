#include "trace/kernel_name.h"

#include <algorithm>
#include <vector>

#include "core/strings.h"

namespace aaco::trace {
namespace {

constexpr int kDeepest = 64;  // template arguments inside template arguments: names are input

bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }

bool balanced(std::string_view text) {
  int depth = 0, deepest = 0;
  for (const char c : text) {
    depth += opens(c) ? 1 : closes(c) ? -1 : 0;
    deepest = std::max(deepest, depth);
    if (depth < 0) return false;
  }
  return depth == 0 && deepest <= kDeepest;
}

// The pieces between separators that stand outside of all brackets.
std::vector<std::string_view> split_outside(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += opens(text[i]) ? 1 : closes(text[i]) ? -1 : 0;
    if (depth != 0 || !text.substr(i).starts_with(separator)) continue;
    pieces.push_back(text.substr(begin, i - begin));
    i += separator.size() - 1;
    begin = i + 1;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

// Without what stands in round brackets outside of angle brackets: parameters, and the type of a value ("(bool)1" is "1").
std::string without_parameters(std::string_view text) {
  std::string out;
  int angles = 0, rounds = 0;
  for (const char c : text) {
    if (angles == 0 && c == '(') ++rounds;
    if (rounds == 0) {
      angles += c == '<' ? 1 : c == '>' ? -1 : 0;
      out += c;
    }
    if (angles == 0 && c == ')') --rounds;
  }
  return std::string(core::trim(out));
}

std::string last_name(std::string_view qualified);

std::string with_short_arguments(const std::string& name) {
  const std::size_t open = name.find('<'), close = name.rfind('>');
  if (open == std::string::npos || close == std::string::npos || close < open) return name;
  std::vector<std::string> arguments;
  for (const std::string_view argument : split_outside(std::string_view(name).substr(open + 1, close - open - 1), ","))
    arguments.push_back(last_name(core::trim(argument)));
  return name.substr(0, open + 1) + core::join(arguments, ", ") + name.substr(close);
}

// Of a qualified name its last part that is a name; lambdas and call operators are known by the function they are in.
std::string last_name(std::string_view qualified) {
  const auto parts = split_outside(qualified, "::");
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->starts_with('{') || part->starts_with("operator")) continue;
    const std::string name = without_parameters(*part);
    if (!name.empty()) return with_short_arguments(name);
  }
  return std::string(qualified);
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  if (name.find_first_of("<(") == std::string_view::npos || !balanced(name)) return std::string(name);
  std::string text = core::replace_all(core::replace_all(std::string(name), "(anonymous namespace)::", ""), " const::", "::");
  if (const std::size_t clone = text.find(" [clone "); clone != std::string::npos) text.resize(clone);
  const std::size_t parameters = split_outside(text, " ").back().size();  // "void name<...>(int, float)" has one space outside
  std::string shorter = last_name(std::string_view(text).substr(text.size() - parameters));
  return shorter.empty() ? std::string(name) : shorter;
}

}  // namespace aaco::trace
