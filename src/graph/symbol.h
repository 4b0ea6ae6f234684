#pragma once

#include <string>
#include <string_view>
#include <vector>

// Formulas that stand where a size does: "past + new", "2*s0", "Max(1, s0//2)", "(s1 - 1)//2 + 1".
namespace aaco::graph {

// The names in a formula, in order, each once; the text itself where it is no formula (a name may hold anything).
std::vector<std::string> symbol_names(std::string_view text);

}  // namespace aaco::graph
