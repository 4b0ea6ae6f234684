#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/graph.h"

namespace aaco::graph::tflite {

// The sizes that a file leaves open. It writes what they are for one example (mostly 1), which tells how they follow from the
// batch where that alone is open.
class OpenSizes {
 public:
  // `example`: of the tensor's open sizes in order; empty: it has none.
  void note(TensorId id, std::vector<std::int64_t> example);
  // Gives the open sizes of the graph's inputs their names, and those of its other tensors where the batch tells them.
  // `outermost`: whether its inputs are the model's; a body's are followed as those of the model around it.
  void settle(Graph& graph, bool outermost);
  void clear() { examples_.clear(); }
  // For a body of the graph that `around` is of.
  void follow(const OpenSizes& around) { batch_ = around.batch_; }

 private:
  void look_at_inputs(const Graph& graph);
  void name_images(Graph& graph) const;  // where one input alone can be meant by "height" and "width"
  std::map<TensorId, std::vector<std::int64_t>> examples_;
  std::int64_t batch_ = 0;  // of the example; 0: more than the batch is open
};

}  // namespace aaco::graph::tflite
