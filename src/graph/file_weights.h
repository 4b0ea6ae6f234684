#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/positional_bytes.h"
#include "graph/onnx.h"

namespace aaco::graph::onnx {

// The weights as the files of the loaded model store them, for writing a changed copy of it. `graph` must outlive this, and its
// initializers must not change meanwhile.
class FileWeights final : public WeightSource {
 public:
  explicit FileWeights(const Graph& graph) : graph_(graph) {}
  core::Status read(std::size_t index, std::int64_t offset, std::span<std::byte> out) override;

 private:
  const Graph& graph_;
  std::map<std::string, core::PositionalBytes> files_;
};

// All bytes of a constant, kept or stored in a file. Fails with unsupported for one whose data was not stored as dense bytes.
core::Result<core::SharedBytes> read_constant(const Constant& constant);

}  // namespace aaco::graph::onnx
