#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/graph.h"

namespace aaco::laboratory::benchmarks {

// Bytes that ONNX Runtime takes at most for this graph: its weights while they are loaded, and on the CPU (`on_host`) what is
// live while it runs. A graph whose shapes do not follow from `dimensions` counts with its weights alone.
std::int64_t memory_needed(const graph::Graph& graph, const std::map<std::string, std::int64_t>& dimensions, bool on_host);

}  // namespace aaco::laboratory::benchmarks
