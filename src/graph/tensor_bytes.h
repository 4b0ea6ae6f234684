#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace aaco::graph {

// Bytes that the dense tensor takes: as many as there can be where 64 bits overflow; empty where its shape or the size of its
// elements is not known.
std::optional<std::int64_t> tensor_bytes(const TensorDescriptor& tensor);
// Its elements, likewise.
std::optional<std::int64_t> tensor_elements(const TensorDescriptor& tensor);

}  // namespace aaco::graph
