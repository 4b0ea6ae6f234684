#include "tests/shapes/runtime_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/files.h"
#include "graph/onnx.h"

namespace aaco {
namespace {

using graph::Graph;
using graph::TensorId;

std::size_t at(TensorId id) { return static_cast<std::size_t>(id.value); }

Graph question(const Graph& known) {
  Graph asked = known;
  std::vector<bool> given(asked.tensors.size(), false);
  std::vector<graph::Initializer> kept;
  std::vector<bool> read(asked.tensors.size(), false);
  for (const graph::Node& node : asked.nodes)
    for (const TensorId id : node.inputs)
      if (id.valid()) read[at(id)] = true;
  for (const graph::Initializer& initializer : asked.initializers) {
    if (!read[at(initializer.tensor)]) continue;  // the runtime refuses them
    given[at(initializer.tensor)] = true;
    const auto count = graph::element_count(asked.tensor(initializer.tensor).shape.value_or(graph::Shape{1}));
    if (initializer.constant.data.empty() && count != 0)
      asked.inputs.push_back(initializer.tensor);
    else
      kept.push_back(initializer);
  }
  asked.initializers = std::move(kept);
  for (const TensorId id : asked.inputs) given[at(id)] = true;
  for (std::size_t number = 0; number < asked.tensors.size(); ++number) {
    if (given[number]) continue;
    asked.tensors[number].shape.reset();
    asked.tensors[number].type = graph::ElementType::unknown;
  }
  asked.outputs.clear();
  for (graph::Node& node : asked.nodes)
    for (const TensorId id : node.outputs)
      if (id.valid()) asked.outputs.push_back(id);
  return asked;
}

std::string text_of(graph::ElementType type, const graph::Shape& shape) {
  return std::string(graph::to_string(type)) + to_string(shape);
}

}  // namespace

std::shared_ptr<runner::ort::Runtime> open_runtime() {
  const core::Environment environment = core::Environment::of_process();
  const auto opened = runner::ort::Runtime::open({"", environment, core::Paths::find(environment, core::executable_path())});
  return opened ? *opened : nullptr;
}

ShapeComparison compare_shapes(runner::ort::Runtime& runtime, const Graph& graph) {
  ShapeComparison result;
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const std::string path = core::join_path(folder->path(), "m.onnx");
  if (const auto written = graph::onnx::write(question(graph), nullptr, path); !written) {
    result.error = written.error().text();
    return result;
  }
  runner::BackendOptions options;
  options.provider = "CPUExecutionProvider";
  options.graph_level = "disabled";
  const auto backend = runtime.open_model(path, options);
  if (!backend) {
    result.error = backend.error().text();
    return result;
  }
  std::map<std::string, const runner::TensorInfo*> told;
  for (const runner::TensorInfo& output : (*backend)->outputs()) told[output.name] = &output;
  for (const graph::Node& node : graph.nodes) {
    for (const TensorId id : node.outputs) {
      if (!id.valid()) continue;
      const graph::TensorDescriptor& ours = graph.tensor(id);
      const auto found = told.find(ours.name);
      if (found == told.end()) continue;
      const runner::TensorInfo& theirs = *found->second;
      const graph::Shape shape(theirs.shape.begin(), theirs.shape.end());
      const bool fixed = std::all_of(theirs.shape.begin(), theirs.shape.end(), [](std::int64_t size) { return size >= 0; });
      // Nothing is inferred for the second output of Dropout in old sets, which reads like a scalar.
      const bool silent = theirs.shape.empty() && node.op_type == "Dropout";
      if (!fixed || silent || theirs.type == graph::ElementType::unknown) {
        ++result.runtime_unknown;
        continue;
      }
      ++result.compared;
      if (ours.shape == shape && ours.type == theirs.type) continue;
      result.different.push_back(node.name + " (" + node.op_type + "): runtime " + text_of(theirs.type, shape) + ", catalogue " +
                                 (ours.shape ? text_of(ours.type, *ours.shape) : "nothing"));
    }
  }
  return result;
}

}  // namespace aaco
