#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "graph/fuse/matcher.h"

namespace aaco::graph {

// "'conv1'", or the operator and number of a node without a name.
std::string quoted_name(const Graph& graph, std::size_t node);

// What a match does not have of what its pattern requires besides its steps.
struct Unmet {
  std::string reason;                     // id in data/rules/compiler.yaml
  std::string condition;                  // what was found, and what the pattern requires
  std::size_t node = 0;                   // that does not meet it
  bool is_known = true;                   // false: the condition cannot be checked, as a shape, type or value is not known
  std::optional<std::size_t> other = {};  // a second node that the condition is about
};
Unmet not_checked(std::string condition, std::size_t node);
Unmet no_shape(std::string condition, std::size_t node);
// A condition requires the value of this tensor, which is not at hand: it is computed, an input, or a constant that was not kept.
// `what`: "operand 'scale' of 'conv1'".
Unmet unknown_constant(const Links& links, TensorId id, const std::string& what, std::size_t node);

// Whether one of `values` is the value, up to rounding.
bool is_among(double value, const std::vector<double>& values);

}  // namespace aaco::graph
