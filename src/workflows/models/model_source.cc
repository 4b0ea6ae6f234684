#include "workflows/model_source.h"

#include <algorithm>

#include "core/files.h"
#include "graph/batch.h"
#include "runner/registry.h"
#include "runner/zoo.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;

bool names_input(std::string_view pattern, std::string_view input) {
  return pattern.ends_with('*') ? input.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == input;
}

// The sizes of models.yaml for dimensions that nobody gave.
void add_configured(const graph::Graph& graph, const runner::ModelConfig& config, graph::Bindings& sizes) {
  for (const graph::TensorId id : graph.inputs) {
    const graph::TensorDescriptor& tensor = graph.tensor(id);
    for (const auto& [pattern, shape] : config.input_shapes) {
      if (!tensor.shape || tensor.shape->size() != shape.size() || !names_input(pattern, tensor.name)) continue;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const graph::Dimension& dimension = (*tensor.shape)[axis];
        if (dimension.fixed()) continue;
        const std::string symbol = dimension.symbol.empty() ? tensor.name + "#" + std::to_string(axis) : dimension.symbol;
        const auto names = graph::free_symbols(graph);
        if (std::find(names.begin(), names.end(), symbol) != names.end()) sizes.try_emplace(symbol, shape[axis]);
      }
    }
  }
}

struct SourceGraph {
  graph::ModelFormat format = graph::ModelFormat::onnx;
  graph::Source file;
};

core::Result<SourceGraph> read_source(const runner::ModelConfig& config, const std::string& entry) {
  SourceGraph source;
  if (config.from_zoo()) {
    if (!entry.empty())
      return core::fail(ErrorCode::invalid_argument, "zoo model " + config.zoo_request() + " has no entry '" + entry + "'",
                        "remove the part after '#'");
    AACO_ASSIGN(const auto request, runner::zoo::parse_request(config.zoo_request()));
    AACO_ASSIGN(auto blueprint, runner::zoo::build_graph(*request.entry, request.config));
    source.file.graph = std::move(blueprint.graph);
    return source;
  }
  if (!core::exists(config.path))
    return core::fail(ErrorCode::not_found, "model " + config.path + " does not exist",
                      config.where.empty() ? "'aaco zoo ls' lists the built-in models" : "fix its path in " + config.where);
  AACO_ASSIGN(source.format, graph::sniff_model(config.path));
  AACO_ASSIGN(source.file, graph::load_source(config.path, entry));
  return source;
}

}  // namespace

core::Result<graph::Model> open_model(const ModelRequest& request, const Services& services) {
  AACO_ASSIGN(const auto registry, runner::Registry::load(services.paths));
  const graph::ModelName name = graph::split_model_name(request.name);
  AACO_ASSIGN(const auto config, registry.model(name.path));
  AACO_ASSIGN(SourceGraph source, read_source(config, name.entry));
  const graph::Graph& read = source.file.graph;
  graph::Bindings sizes = request.dimensions;
  if (request.batch) AACO_TRY(bind_batch(read, *request.batch, sizes));
  if (const auto items = sizes.find(graph::batch_symbol(read)); items != sizes.end() && items->second == 0)
    return core::fail(ErrorCode::invalid_argument, "dimension '" + items->first + "' (items per call) is 0",
                      "set it to 1 or more");
  add_configured(read, config, sizes);
  AACO_ASSIGN(graph::Model model, graph::prepare(std::move(source.file), sizes, request.shapes));
  model.format = source.format;
  return model;
}

}  // namespace aaco::workflows
