#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/graph.h"

// ONNX files in and out. The wire format is read and written directly, so that neither weights nor protobuf's own limit of 2 GB
// stand in the way of a large model.
namespace aaco::graph::onnx {

// The model's graph without its weights: constants above kKeptConstantBytes and external data stay where they are, and files with
// external data need not exist. Memory follows the structure (at most 1 GiB), not the size of the file. Fails with invalid_input
// on damage, an element type that ONNX does not have, a negative dimension, a cycle, a tensor that nothing or more than one node
// produces.
core::Result<Graph> load(const std::string& path);
// The same from bytes; `name` stands in messages and data locations.
core::Result<Graph> parse(std::string_view bytes, std::string name);
// One tensor with all its data (a TensorProto: the .pb files of ONNX's test data). No data for strings.
core::Result<TensorLiteral> parse_tensor(std::string_view bytes, std::string name);
// That every file with external data is there and long enough. `path`: where `graph` was loaded from.
core::Status check_external_data(const Graph& graph, const std::string& path);

// Where the bytes of an initializer come from while a model is written.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // Fills `out` with the bytes of graph.initializers[index] from `offset` on. Called in order of index and offset.
  virtual core::Status read(std::size_t index, std::int64_t offset, std::span<std::byte> out) = 0;
};

enum class WeightStorage {
  automatic,  // embed below kEmbedLimitBytes, else external
  embed,      // in the .onnx file itself; refused above protobuf's limit of 2 GB
  external,   // in FILE.data beside it, each tensor on a page boundary so that a runtime can map it
  absent,     // references to FILE.data, and no such file: a graph to reason about, not to run
};
inline constexpr std::int64_t kEmbedLimitBytes = std::int64_t{1900} << 20;

struct WriteOptions {
  WeightStorage storage = WeightStorage::automatic;
  std::function<void(std::int64_t done_bytes, std::int64_t total_bytes)> progress;  // may be empty
};

// Writes `graph` to `path` in bounded memory. Initializers that keep their data (Constant::data) are written from it, all others
// through `weights` (null: there are none but kept ones). Not atomic: the caller renames.
core::Status write(const Graph& graph, WeightSource* weights, const std::string& path, const WriteOptions& options = {});

// The bytes `write` will put on disk for the weights (data only, without the graph's structure).
std::int64_t weight_bytes(const Graph& graph);

}  // namespace aaco::graph::onnx
