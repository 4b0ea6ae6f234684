#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace aaco::graph::rewrite {

// The values as a constant holds them: dense, in this machine's order.
template <class T>
std::vector<std::byte> dense_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace aaco::graph::rewrite
