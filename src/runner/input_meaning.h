#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runner/backend.h"

namespace aaco::runner {

// The meaning of an input, inferred from the graph and its name.
struct InputMeaning {
  enum class Kind {
    values,     // plain numbers: an image, features
    indices,    // rows of a table of `table_rows`: token ids
    positions,  // ascending, continuing after the past
    mask,       // ones: nothing masked
    segment,    // zeros: a single segment
    cache,      // state of earlier steps: small values
    flag,       // whether there is a cache
    counts,     // integers of unknown meaning: zeros and ones
  } kind = Kind::values;
  std::optional<std::int64_t> table_rows;  // the smallest table the input indexes
};

// One per graph input, in order. Follows each integer input through value-preserving nodes to the tables it indexes.
std::vector<InputMeaning> find_meanings(const graph::Graph& graph);

}  // namespace aaco::runner
