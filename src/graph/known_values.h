#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace aaco::graph {

// The whole numbers of a tensor, row-major.
struct KnownIntegers {
  ElementType type = ElementType::unknown;  // int64, int32 or boolean
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> elements;
};

// By tensor: outputs of nodes whose integers or booleans the graph alone decides, from constants and the sizes of fixed shapes.
// Nothing is assumed about inputs. Control flow and subgraphs are left out.
std::vector<std::optional<KnownIntegers>> known_integers(const Graph& graph);

}  // namespace aaco::graph
