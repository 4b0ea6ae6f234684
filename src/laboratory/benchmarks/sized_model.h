#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/result.h"
#include "graph/load.h"
#include "graph/shapes.h"

namespace aaco::laboratory::benchmarks {

// The model at these sizes of its symbols, with its shapes; sizes of others count for nothing. Fails as graph::prepare does.
core::Result<graph::Model> model_at(const graph::Graph& graph, const std::map<std::string, std::int64_t>& dimensions);

}  // namespace aaco::laboratory::benchmarks
