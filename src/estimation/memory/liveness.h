#pragma once

#include <cstdint>
#include <vector>

#include "estimation/memory.h"
#include "graph/cost.h"

namespace aaco::estimation {

// Which buffer each tensor lies in. A tensor without one (a constant, one of unknown size) has -1.
struct Buffers {
  struct Buffer {
    std::int64_t bytes = 0;
    std::int64_t first = -1;  // node that writes it first; -1: there before the first node
    std::int64_t last = -1;   // node that touches it last; one beyond the last node: to the end
    graph::TensorId owner;    // the tensor it was made for
  };
  std::vector<Buffer> all;
  std::vector<std::int32_t> of_tensor;
  std::vector<bool> constant;       // by tensor
  std::int64_t constant_bytes = 0;  // weights and what folds into them
  std::int64_t unknown = 0;         // tensors of unknown size
};

// The graph's inputs and outputs are the caller's: they live throughout.
Buffers assign_buffers(const graph::Graph& graph, const MemoryPolicy& policy);

}  // namespace aaco::estimation
