#include "analytics/tracediff/same_kernel.h"

#include <vector>

namespace aaco::analytics::tracediff {
namespace {

// The function's name with its namespaces, without return type, template arguments, parameters and a loader's suffix.
std::string_view function_of(std::string_view name) {
  const auto text = name.substr(0, name.find_first_of("<(["));
  const auto end = text.find_last_not_of(' ');
  if (end == std::string_view::npos) return {};
  const auto words = text.substr(0, end + 1);
  const auto space = words.rfind(' ');
  auto function = space == std::string_view::npos ? words : words.substr(space + 1);
  if (function.ends_with(".kd")) function.remove_suffix(3);
  return function;
}

bool is_bare(std::string_view name) { return name.find_first_of("<(") == std::string_view::npos; }

std::map<std::string_view, std::vector<std::string_view>> by_function(const std::set<std::string_view>& names) {
  std::map<std::string_view, std::vector<std::string_view>> functions;
  for (const std::string_view name : names) functions[function_of(name)].push_back(name);
  return functions;
}

}  // namespace

std::map<std::string_view, std::string_view> written_otherwise(const std::set<std::string_view>& a,
                                                               const std::set<std::string_view>& b) {
  std::map<std::string_view, std::string_view> same;
  const auto of_a = by_function(a), of_b = by_function(b);
  for (const auto& [function, names] : of_b) {
    const auto other = of_a.find(function);
    if (function.empty() || other == of_a.end() || names.size() != 1 || other->second.size() != 1) continue;
    const std::string_view here = names.front(), there = other->second.front();
    if (here != there && is_bare(here) != is_bare(there)) same.emplace(here, there);
  }
  return same;
}

}  // namespace aaco::analytics::tracediff
