#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

// Sizes for a graph's symbols, and shapes for its tensors. The order is: inline_functions, bind_dimensions, infer_shapes
// (graph/load.h does all three).
namespace aaco::graph {

using Bindings = std::map<std::string, std::int64_t>;

// Replaces every node that names one of the graph's own functions by the function's nodes, to any depth. Fails with invalid_input
// where functions call each other in a circle, with exhausted where the graph would pass a million nodes.
core::Status inline_functions(Graph& graph);

// The symbols of the graph's inputs that take a size, sorted. A sum ("past + new") stands as its terms. A dimension without a
// name is called "INPUT#AXIS".
std::vector<std::string> free_symbols(const Graph& graph);

// The size taken for a dimension that nobody gave one, by what exporters call such dimensions (batch 1, sequence 128, past 0, an
// image of 224 x 224). `rank`, `axis`: of the input that has it.
std::int64_t usual_size(std::string_view symbol, std::size_t rank, std::size_t axis);
// The value of "a + b", "2*s0", "Max(1, s0//2)", "total_sequence_length"; empty where a name in it has no size.
std::optional<std::int64_t> evaluate_symbol(std::string_view symbol, const Bindings& sizes);

// What a file says of a symbol's size: between which bounds the model was made for, and the size it was made with.
struct SymbolRange {
  std::optional<std::int64_t> smallest, largest, example;
};
using SymbolRanges = std::map<std::string, SymbolRange>;

struct BoundDimensions {
  Bindings sizes;                        // of every symbol
  std::vector<std::string> assumptions;  // sizes nobody gave
};
// Puts sizes in place of symbols in every declared shape: those in `given`, else the usual ones; of a dimension that does not
// count items the example in `ranges` comes first. Fails with invalid_argument for a name that the graph does not have, for a
// size below 0 and for one out of its range.
core::Result<BoundDimensions> bind_dimensions(Graph& graph, const Bindings& given, const SymbolRanges& ranges = {});

// Puts these sizes in place of symbols in every declared shape, and leaves the other symbols as they are.
void substitute_dimensions(Graph& graph, const Bindings& sizes);

struct ShapeOptions {
  std::int64_t loop_trips = 1;  // of a Loop whose count is not in the graph
};

// What inference came to. The counts are over all outputs of nodes, those of subgraphs included.
struct ShapeReport {
  std::int64_t fixed = 0;
  std::int64_t symbolic = 0;             // rank and symbols, not all sizes
  std::int64_t unknown = 0;              // not even the rank
  std::vector<std::string> assumptions;  // trip counts and branches taken
  std::vector<std::string> problems;     // nodes whose inputs do not fit together, at most kMaxProblems
};
inline constexpr std::size_t kMaxProblems = 32;

// Gives every tensor the type and shape that its operator's definition says, by opset; integers that shapes are computed from are
// followed through the graph. What a file declares for a tensor stands where the operator is unknown or says less. Loop and Scan
// get their Node::trips. Weights are not read.
ShapeReport infer_shapes(Graph& graph, const ShapeOptions& options = {});

}  // namespace aaco::graph
