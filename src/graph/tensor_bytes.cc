#include "graph/tensor_bytes.h"

#include <algorithm>
#include <limits>

namespace aaco::graph {

std::optional<std::int64_t> tensor_elements(const TensorDescriptor& tensor) {
  if (!tensor.shape) return std::nullopt;
  const auto is_open = [](const Dimension& dimension) { return !dimension.fixed(); };
  if (std::any_of(tensor.shape->begin(), tensor.shape->end(), is_open)) return std::nullopt;
  if (std::any_of(tensor.shape->begin(), tensor.shape->end(), [](const Dimension& dimension) { return dimension.size == 0; }))
    return 0;
  return element_count(*tensor.shape).value_or(std::numeric_limits<std::int64_t>::max());
}

std::optional<std::int64_t> tensor_bytes(const TensorDescriptor& tensor) {
  const auto count = tensor_elements(tensor);
  if (!count || element_bits(tensor.type) == 0) return std::nullopt;
  return bytes_of(tensor.type, *count).value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace aaco::graph
