#include <algorithm>
#include <array>
#include <set>

#include "core/numbers.h"
#include "core/strings.h"
#include "graph/shapes.h"
#include "graph/symbol.h"

namespace aaco::graph {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::string_view kTotal = "total_sequence_length";

struct Guess {
  std::string_view part;  // of the symbol's name, in lower case
  std::int64_t size;
};
// By what exporters call such dimensions. The first that fits.
constexpr auto kGuesses = std::to_array<Guess>({{"batch", 1},
                                                {"past", 0},
                                                {"seq", 128},
                                                {"length", 128},
                                                {"time", 100},
                                                {"height", 224},
                                                {"width", 224},
                                                {"channel", 3},
                                                {"samples", 16000}});

// Gives the open dimensions of the inputs that have no name one: "INPUT#AXIS".
void name_open_dimensions(Graph& graph) {
  for (const TensorId id : graph.inputs) {
    TensorDescriptor& tensor = graph.tensor(id);
    if (!tensor.shape) continue;
    for (std::size_t axis = 0; axis < tensor.shape->size(); ++axis)
      if (Dimension& dimension = (*tensor.shape)[axis]; !dimension.fixed() && dimension.symbol.empty())
        dimension.symbol = tensor.name + "#" + std::to_string(axis);
  }
}

void substitute(Graph& graph, const Bindings& sizes) {
  for (TensorDescriptor& tensor : graph.tensors) {
    if (!tensor.shape) continue;
    for (Dimension& dimension : *tensor.shape) {
      if (dimension.fixed() || dimension.symbol.empty()) continue;
      if (const auto size = evaluate_symbol(dimension.symbol, sizes); size && *size >= 0) dimension = Dimension(*size);
    }
  }
  for (Graph& body : graph.subgraphs) substitute(body, sizes);
}

// A lower bound of up to two is what torch.export writes for any dimension that is not specialised: one item runs all the same
// (torch._export.utils, the check of input constraints).
constexpr std::int64_t kLargestFreeBound = 2;

std::int64_t lower_bound_of(const SymbolRange& range) {
  const std::int64_t smallest = range.smallest.value_or(0);
  return smallest > kLargestFreeBound ? smallest : 0;
}

core::Status check_range(const std::string& name, std::int64_t size, const SymbolRanges& ranges) {
  const auto found = ranges.find(name);
  if (found == ranges.end()) return {};
  const std::int64_t smallest = lower_bound_of(found->second);
  if (size >= smallest && size <= found->second.largest.value_or(size)) return {};
  const std::string bounds = !found->second.largest ? std::to_string(smallest) + " or more"
                                                    : std::to_string(smallest) + " to " + std::to_string(*found->second.largest);
  return fail(ErrorCode::invalid_argument,
              "the size of '" + name + "' is " + std::to_string(size) + ", but the model was exported for " + bounds,
              "give a size within these bounds, or export the model again with different bounds");
}

struct Taken {
  std::int64_t size = 1;
  std::string reason;
};

Taken size_for(const std::string& name, std::size_t rank, std::size_t axis, const SymbolRanges& ranges) {
  const std::int64_t usual = usual_size(name, rank, axis);
  const auto found = ranges.find(name);
  if (found == ranges.end()) return {usual, ""};
  const SymbolRange& range = found->second;
  if (range.example && axis > 0 && check_range(name, *range.example, ranges))
    return {*range.example, " (the example it was exported with)"};
  const std::int64_t smallest = lower_bound_of(range), largest = std::max(smallest, range.largest.value_or(INT64_MAX));
  const std::int64_t size = std::clamp(usual, smallest, largest);
  return {size, size == usual ? "" : " (the nearest size the model was exported for)"};
}

}  // namespace

std::vector<std::string> free_symbols(const Graph& graph) {
  std::set<std::string> names;
  for (const TensorId id : graph.inputs) {
    const TensorDescriptor& tensor = graph.tensor(id);
    if (!tensor.shape) continue;
    for (std::size_t axis = 0; axis < tensor.shape->size(); ++axis) {
      const Dimension& dimension = (*tensor.shape)[axis];
      if (dimension.fixed()) continue;
      if (dimension.symbol.empty())
        names.insert(tensor.name + "#" + std::to_string(axis));
      else
        for (std::string& name : symbol_names(dimension.symbol)) names.insert(std::move(name));
    }
  }
  // A total is what is past plus what is new, where a model has all three.
  if (names.contains("past_sequence_length") && names.contains("sequence_length")) names.erase(std::string(kTotal));
  return {names.begin(), names.end()};
}

std::int64_t usual_size(std::string_view symbol, std::size_t rank, std::size_t axis) {
  const std::string lower = core::to_lower(symbol);
  for (const Guess& guess : kGuesses)
    if (lower.find(guess.part) != std::string::npos) return guess.size;
  if (rank == 4 && axis > 0) return axis == 1 ? 3 : 224;  // an image, channels first
  return 1;
}

void substitute_dimensions(Graph& graph, const Bindings& sizes) { substitute(graph, sizes); }

core::Result<BoundDimensions> bind_dimensions(Graph& graph, const Bindings& given, const SymbolRanges& ranges) {
  const std::vector<std::string> names = free_symbols(graph);
  BoundDimensions bound;
  for (const auto& [name, size] : given) {
    if (size < 0)
      return fail(ErrorCode::invalid_argument, "the size of '" + name + "' is " + std::to_string(size),
                  "sizes must be at least 0");
    if (name != kTotal && !std::binary_search(names.begin(), names.end(), name))
      return fail(ErrorCode::invalid_argument, "the model has no dimension '" + name + "'",
                  names.empty() ? "all its dimensions are fixed" : "its dimensions: " + core::join(names, ", "));
    AACO_TRY(check_range(name, size, ranges));
    bound.sizes[name] = size;
  }
  name_open_dimensions(graph);
  for (const TensorId id : graph.inputs) {
    const TensorDescriptor& tensor = graph.tensor(id);
    if (!tensor.shape) continue;
    for (std::size_t axis = 0; axis < tensor.shape->size(); ++axis) {
      if ((*tensor.shape)[axis].fixed()) continue;
      for (const std::string& name : symbol_names((*tensor.shape)[axis].symbol)) {
        if (bound.sizes.contains(name) || !std::binary_search(names.begin(), names.end(), name)) continue;
        const Taken taken = size_for(name, tensor.shape->size(), axis, ranges);
        bound.sizes[name] = taken.size;
        bound.assumptions.push_back("'" + name + "' (dimension " + std::to_string(axis) + " of the input '" + tensor.name +
                                    "') has no fixed size; assumed " + std::to_string(taken.size) + taken.reason);
      }
    }
  }
  substitute(graph, bound.sizes);
  return bound;
}

}  // namespace aaco::graph
