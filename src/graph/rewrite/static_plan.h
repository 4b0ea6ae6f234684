#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/rewrite/links.h"

namespace aaco::graph::rewrite {

// What int8_static does with a graph whose batch normalizations are folded.
struct StaticPlan {
  struct Site {
    std::size_t node = 0;
    std::size_t axis = 0;  // of the weight's output channels
  };
  std::vector<Site> sites;
  // Activations that are quantized: the input or output of a site, or what operators between them pass on.
  std::set<TensorId> tensors;
  // Tensor -> the tensor whose range it has, because its operator only moves values.
  std::map<TensorId, TensorId> same_range;
  // Activation functions that a range from 0 implies: node -> the node before.
  std::map<std::size_t, std::size_t> implied;
};
// Those of the graph, ranges unknown: `implied` and `tensors` are what is possible.
StaticPlan plan_static(const Edit& edit, const TensorLinks& links);

}  // namespace aaco::graph::rewrite
