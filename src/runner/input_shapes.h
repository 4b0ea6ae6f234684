#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/inputs.h"

namespace aaco::runner {

// Sizes for every dimension of every input.
struct ResolvedShapes {
  std::vector<std::vector<std::int64_t>> shapes;   // in the order of the inputs
  std::map<std::string, std::int64_t> dimensions;  // named symbols
  std::int64_t batch = 1;
  std::vector<std::string> assumptions;  // sizes that were not given
};

// `file_shapes`: shapes of inputs read from files; they are binding.
core::Result<ResolvedShapes> resolve_shapes(const std::vector<TensorInfo>& inputs, const Shapes& file_shapes,
                                            const InputRequest& request);

// The sizes make_inputs would choose for this graph's inputs; reads files for their shapes but creates no values.
core::Result<ResolvedShapes> resolve_inputs(const graph::Graph& graph, const InputRequest& request);

// The sizes of symbols that the request itself gives, by files, shapes, dimensions and batch, sums of them included; not those of
// models.yaml or assumed ones. Fails as resolve_inputs() does, and with invalid_argument where one is given for a dimension
// without a name, which a runtime cannot fix.
core::Result<std::map<std::string, std::int64_t>> given_sizes(const std::vector<TensorInfo>& inputs, const Shapes& file_shapes,
                                                              const InputRequest& request);
core::Result<std::map<std::string, std::int64_t>> given_dimensions(const graph::Graph& graph, const InputRequest& request);

}  // namespace aaco::runner
