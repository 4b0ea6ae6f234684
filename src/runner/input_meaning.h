#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runner/backend.h"

namespace aaco::runner {

// What an input stands for, as far as the graph and its name tell.
struct InputMeaning {
  enum class Kind {
    values,     // numbers of no special meaning: an image, features
    indices,    // rows of a table of `table_rows`: token ids
    positions,  // ascending, after what is past
    mask,       // ones: everything counts
    segment,    // zeros: everything is of the first segment
    cache,      // what an earlier step left: small values
    flag,       // whether there is a cache
    counts,     // integers nothing is known about: zeros and ones
  } kind = Kind::values;
  std::optional<std::int64_t> table_rows;  // the smallest table the input is an index into
};

// One a graph input, in their order. Follows each integer input through nodes that keep its values to the tables it indexes.
std::vector<InputMeaning> find_meanings(const graph::Graph& graph);

}  // namespace aaco::runner
