#include "trace/kernel_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>
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
    if (part->find_first_of("{[<") == 0 || part->starts_with("operator")) continue;  // "[lambda ...]", "<unnamed>" of Nsight
    const std::string name = without_parameters(*part);
    if (!name.empty()) return with_short_arguments(name);
  }
  return std::string(qualified);
}

// References to what a mangled name has said before ("S_", "S4_", "T0_"), or what looks like one.
std::int64_t references_in(std::string_view mangled) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < mangled.size() && (std::isdigit(static_cast<unsigned char>(mangled[end])) != 0 ||
                                    std::isupper(static_cast<unsigned char>(mangled[end])) != 0))
      ++end;
    if (end < mangled.size() && mangled[end] == '_') ++count;
  }
  return count;
}

// Empty for what is no mangled name. Each reference may repeat all that stands before it: a short name of many would become one
// that no memory holds, so that such names are left alone.
std::string demangled(const std::string& name) {
  constexpr std::size_t kLongest = 1024;
  constexpr std::int64_t kMaxReferences = 10;
  if (name.size() > kLongest || references_in(name) > kMaxReferences) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

// The last of the identifiers, each behind its length, that a mangled name begins with.
std::string last_identifier(std::string_view mangled) {
  mangled.remove_prefix(mangled.starts_with("_ZN") ? 3 : 2);
  std::string last;
  while (!mangled.empty() && std::isdigit(static_cast<unsigned char>(mangled[0])) != 0) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(mangled.data(), mangled.data() + mangled.size(), length);
    mangled.remove_prefix(static_cast<std::size_t>(end - mangled.data()));
    if (error != std::errc() || length == 0 || length > mangled.size()) return {};
    last = mangled.substr(0, length);
    mangled.remove_prefix(length);
  }
  return last;
}

// The signature that a mangled name of the Itanium ABI stands for, of one that is left alone or newer than the demangler at least
// the function's name; empty for anything else.
std::string signature_of(std::string_view name) {
  if (!name.starts_with("_Z")) return {};
  if (name.ends_with(".kd")) name.remove_suffix(3);  // the descriptor of a kernel in AMD's code objects
  const std::string mangled(name);
  if (std::string signature = demangled(mangled); !signature.empty()) return signature;
  // GCC 12 does not know bfloat16 (DF16b): it is read as a type that no kernel has.
  const std::string known = demangled(core::replace_all(mangled, "DF16b", "De"));
  return known.empty() ? last_identifier(name) : core::replace_all(known, "decimal128", "bfloat16");
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  if (const std::string signature = signature_of(name); !signature.empty()) return short_kernel_name(signature);
  if (name.find_first_of("<(") == std::string_view::npos || !balanced(name)) return std::string(name);
  std::string text = core::replace_all(core::replace_all(std::string(name), "(anonymous namespace)::", ""), " const::", "::");
  if (const std::size_t clone = text.find(" [clone "); clone != std::string::npos) text.resize(clone);
  const std::size_t parameters = split_outside(text, " ").back().size();  // "void name<...>(int, float)" has one space outside
  std::string shorter = last_name(std::string_view(text).substr(text.size() - parameters));
  return shorter.empty() ? std::string(name) : shorter;
}

}  // namespace aaco::trace
