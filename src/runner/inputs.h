#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "runner/backend.h"

namespace aaco::runner {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

// What is known about a model's inputs before it runs. Each source overrides those below; conflicting sizes from the first three
// for one symbol are refused.
struct InputRequest {
  std::map<std::string, std::string> files;        // input -> .npy, .npz or .pb
  Shapes shapes;                                   // input -> shape; a name may end in '*'
  std::map<std::string, std::int64_t> dimensions;  // symbol -> size
  std::optional<std::int64_t> batch;               // size of the batch symbol
  Shapes default_shapes;                           // from models.yaml: for sizes not set above
  std::uint64_t seed = 1;
};

// Origin of an input's values.
struct InputOrigin {
  std::string input;
  std::string meaning;  // "token ids below 30522", "from file x.npy"
};

struct ModelInputs {
  std::vector<TensorData> tensors;  // in the model's order
  std::map<std::string, std::int64_t>
      dimensions;                     // every symbol of the inputs with its size, for BackendOptions::free_dimensions
  std::int64_t batch = 1;             // items one call processes
  std::vector<InputOrigin> origins;   // one per tensor
  std::vector<std::string> warnings;  // assumed sizes, infinities in a file
};

// The inputs as the graph declares them.
std::vector<TensorInfo> declared_inputs(const graph::Graph& graph);

// Gives every input a size and plausible values: token ids within their lookup table, masks of ones, ascending
// positions, empty or small caches, images of random values; the same seed gives the same bytes. Fails with invalid_argument
// if a size contradicts the model (e.g. a fixed batch) or another size, invalid_input for a file of another type or shape or
// with NaN in it, unsupported for strings and non-tensor inputs.
core::Result<ModelInputs> make_inputs(const graph::Graph& graph, const InputRequest& request);

}  // namespace aaco::runner
