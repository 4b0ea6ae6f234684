#include "graph/tflite/open_sizes.h"

#include <algorithm>
#include <set>

namespace aaco::graph::tflite {
namespace {

constexpr const char* kBatch = "batch";
constexpr std::size_t kImageRank = 4;  // [batch, height, width, channels]

bool is_open(const Dimension& dimension) { return !dimension.fixed(); }

}  // namespace

void OpenSizes::note(TensorId id, std::vector<std::int64_t> example) {
  if (!example.empty()) examples_.emplace(id, std::move(example));
}

void OpenSizes::look_at_inputs(const Graph& graph) {
  batch_ = 0;
  for (const TensorId id : graph.inputs) {
    const auto found = examples_.find(id);
    if (found == examples_.end()) continue;
    const bool first_alone = found->second.size() == 1 && is_open(graph.tensor(id).shape->front());
    if (!first_alone || (batch_ != 0 && batch_ != found->second.front())) {
      batch_ = 0;
      return;
    }
    batch_ = found->second.front();
  }
}

void OpenSizes::name_images(Graph& graph) const {
  const auto is_image = [&](TensorId id) { return examples_.contains(id) && graph.tensor(id).shape->size() == kImageRank; };
  if (std::count_if(graph.inputs.begin(), graph.inputs.end(), is_image) != 1) return;
  Shape& shape = *graph.tensor(*std::find_if(graph.inputs.begin(), graph.inputs.end(), is_image)).shape;
  if (is_open(shape[1])) shape[1] = Dimension("height");
  if (is_open(shape[2])) shape[2] = Dimension("width");
}

void OpenSizes::settle(Graph& graph, bool outermost) {
  if (outermost) {
    look_at_inputs(graph);
    name_images(graph);
  }
  const std::set<TensorId> inputs(graph.inputs.begin(), graph.inputs.end());
  for (const auto& [id, example] : examples_) {
    Shape& shape = *graph.tensor(id).shape;
    const bool input = inputs.contains(id);
    if (outermost && input) {
      if (is_open(shape.front())) shape.front() = Dimension(kBatch);
    } else if (batch_ != 0 && example.size() == 1 && example.front() % batch_ == 0) {
      const std::int64_t times = example.front() / batch_;
      *std::find_if(shape.begin(), shape.end(), is_open) = Dimension(times == 1 ? kBatch : std::to_string(times) + "*" + kBatch);
    }
  }
}

}  // namespace aaco::graph::tflite
