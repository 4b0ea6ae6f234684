#include "graph/fuse/unmet.h"

#include <algorithm>
#include <cmath>

namespace aaco::graph {

std::string quoted_name(const Graph& graph, std::size_t node) {
  const Node& one = graph.nodes[node];
  return "'" + (one.name.empty() ? one.op_type + " " + std::to_string(node) : one.name) + "'";
}

Unmet not_checked(std::string condition, std::size_t node) { return {"not_checked", std::move(condition), node, false}; }
Unmet no_shape(std::string condition, std::size_t node) { return {"shape_unknown", std::move(condition), node, false}; }

Unmet unknown_constant(const Links& links, TensorId id, const std::string& what, std::size_t node) {
  if (links.constant[index_of(id)]) return not_checked(what + " has an unknown value", node);
  return {"operand_not_constant",
          what + (links.producer[index_of(id)] < 0 ? " is an input of the graph" : " is computed") +
              "; the pattern requires a constant",
          node};
}

bool is_among(double value, const std::vector<double>& values) {
  constexpr double kSame = 1e-3;
  return std::any_of(values.begin(), values.end(),
                     [&](double one) { return value == one || std::abs(value - one) <= kSame * std::max(1e-6, std::abs(one)); });
}

}  // namespace aaco::graph
