#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/result.h"
#include "graph/rewrite/edit.h"

namespace aaco::graph::rewrite {

// Who makes and who reads the tensors of the outermost graph.
class TensorLinks {
 public:
  explicit TensorLinks(const Graph& graph);
  // Empty for inputs and constants.
  [[nodiscard]] std::optional<std::size_t> producer(TensorId id) const;
  [[nodiscard]] const std::vector<std::size_t>& readers(TensorId id) const;

 private:
  std::map<std::int64_t, std::size_t> producers_;
  std::map<std::int64_t, std::vector<std::size_t>> readers_;
};

// The only node that reads the tensor; empty where several do, it is an output, or a body reads it.
std::optional<std::size_t> sole_reader(const Edit& edit, const TensorLinks& links, TensorId id);

// Whether the tensor is a constant of float32 with its data at hand and a known shape.
bool is_float_constant(const Edit& edit, TensorId id);
// Its values. Fails as reading a weight does.
core::Result<std::vector<float>> read_floats(const Edit& edit, TensorId id);

}  // namespace aaco::graph::rewrite
