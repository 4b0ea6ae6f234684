#include "runner/inputs.h"

#include <algorithm>

#include "core/strings.h"
#include "runner/input_files.h"
#include "runner/input_meaning.h"
#include "runner/input_shapes.h"
#include "runner/input_values.h"

namespace aaco::runner {
namespace {

using core::ErrorCode;
using core::fail;

core::Result<std::map<std::string, TensorData>> read_files(const std::vector<TensorInfo>& inputs,
                                                           const std::map<std::string, std::string>& files) {
  std::map<std::string, TensorData> tensors;
  for (const auto& [name, path] : files) {
    const auto info =
        std::find_if(inputs.begin(), inputs.end(), [&name = name](const TensorInfo& input) { return input.name == name; });
    if (info == inputs.end()) {
      std::vector<std::string> names;
      for (const TensorInfo& input : inputs) names.push_back(input.name);
      return fail(ErrorCode::invalid_argument, "--input refers to '" + name + "', but the model has no such input",
                  "the model's inputs: " + core::join(names, ", "));
    }
    AACO_ASSIGN(tensors[name], read_input_file(*info, path));
  }
  return tensors;
}

// How many positions earlier steps have seen: the size of the symbol exporters call past.
StepContext step_context(const std::map<std::string, std::int64_t>& dimensions) {
  for (const auto& [symbol, size] : dimensions)
    if (core::to_lower(symbol).find("past") != std::string::npos && symbol.find('+') == std::string::npos) return {size};
  return {};
}

core::Status check_kinds(const std::vector<TensorInfo>& inputs) {
  for (const TensorInfo& input : inputs)
    if (input.type == ElementType::unknown)
      return fail(ErrorCode::unsupported,
                  "the input '" + input.name +
                      "' is not a tensor (a sequence, a map or an unknown type), so no values can be generated for it",
                  "export the model with tensor inputs");
  return {};
}

}  // namespace

std::vector<TensorInfo> declared_inputs(const graph::Graph& graph) {
  std::vector<TensorInfo> inputs;
  for (const graph::TensorId id : graph.inputs) {
    const graph::TensorDescriptor& descriptor = graph.tensor(id);
    TensorInfo info{descriptor.name, descriptor.type, {}, {}};
    for (const graph::Dimension& dimension : descriptor.shape.value_or(graph::Shape{})) {
      info.shape.push_back(dimension.size);
      info.symbols.push_back(dimension.symbol);
    }
    inputs.push_back(std::move(info));
  }
  return inputs;
}

core::Result<ResolvedShapes> resolve_inputs(const graph::Graph& graph, const InputRequest& request) {
  const std::vector<TensorInfo> inputs = declared_inputs(graph);
  AACO_TRY(check_kinds(inputs));
  AACO_ASSIGN(const auto from_files, read_files(inputs, request.files));
  Shapes file_shapes;
  for (const auto& [name, tensor] : from_files) file_shapes[name] = tensor.shape;
  return resolve_shapes(inputs, file_shapes, request);
}

core::Result<std::map<std::string, std::int64_t>> given_dimensions(const graph::Graph& graph, const InputRequest& request) {
  const std::vector<TensorInfo> inputs = declared_inputs(graph);
  AACO_TRY(check_kinds(inputs));
  AACO_ASSIGN(const auto from_files, read_files(inputs, request.files));
  Shapes file_shapes;
  for (const auto& [name, tensor] : from_files) file_shapes[name] = tensor.shape;
  return given_sizes(inputs, file_shapes, request);
}

core::Result<ModelInputs> make_inputs(const graph::Graph& graph, const InputRequest& request) {
  const std::vector<TensorInfo> inputs = declared_inputs(graph);
  AACO_TRY(check_kinds(inputs));
  AACO_ASSIGN(auto from_files, read_files(inputs, request.files));
  Shapes file_shapes;
  for (const auto& [name, tensor] : from_files) file_shapes[name] = tensor.shape;
  AACO_ASSIGN(ResolvedShapes resolved, resolve_shapes(inputs, file_shapes, request));

  const std::vector<InputMeaning> meanings = find_meanings(graph);
  const StepContext context = step_context(resolved.dimensions);
  const core::Random random(request.seed);
  ModelInputs made;
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const std::string& name = inputs[index].name;
    if (const auto file = from_files.find(name); file != from_files.end()) {
      if (const std::int64_t infinite = count_non_finite(file->second).infinite; infinite > 0)
        made.warnings.push_back("the input '" + name + "' has " + std::to_string(infinite) + " infinite values");
      made.tensors.push_back(std::move(file->second));
      made.origins.push_back({name, "from " + request.files.at(name)});
      continue;
    }
    TensorData tensor{name, inputs[index].type, resolved.shapes[index], {}};
    std::int64_t bytes = element_size(tensor.type);
    for (const std::int64_t size : tensor.shape) bytes *= size;
    tensor.bytes.resize(static_cast<std::size_t>(bytes));
    AACO_ASSIGN(InputOrigin origin, fill_values(meanings[index], context, random.fork(index), tensor));
    made.origins.push_back(std::move(origin));
    made.tensors.push_back(std::move(tensor));
  }
  made.dimensions = std::move(resolved.dimensions);
  made.batch = resolved.batch;
  made.warnings.insert(made.warnings.end(), resolved.assumptions.begin(), resolved.assumptions.end());
  return made;
}

}  // namespace aaco::runner
