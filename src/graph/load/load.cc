#include "graph/load.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "core/files.h"
#include "graph/onnx.h"
#include "graph/pt2.h"
#include "graph/tflite.h"

namespace aaco::graph {

ModelName split_model_name(const std::string& name) {
  const std::size_t mark = name.rfind('#');
  if (mark == std::string::npos || mark == 0 || mark + 1 == name.size() || core::exists(name)) return {name, {}};
  return {name.substr(0, mark), name.substr(mark + 1)};
}

core::Result<Source> load_source(const std::string& path, const std::string& entry) {
  AACO_ASSIGN(const ModelFormat format, sniff_model(path));
  switch (format) {
    case ModelFormat::onnx: {
      if (!entry.empty())
        return core::fail(core::ErrorCode::invalid_argument,
                          "an ONNX file contains a single model: " + path + " has no '" + entry + "'",
                          "remove the '#' and everything after it");
      AACO_ASSIGN(Graph graph, onnx::load(path));
      return Source{std::move(graph), {}, {}};
    }
    case ModelFormat::pt2: return pt2::load(path, entry);
    case ModelFormat::tflite: return tflite::load(path, entry);
  }
  return core::fail(core::ErrorCode::unsupported, path + " has an unsupported format");
}

core::Result<Graph> load(const std::string& path) {
  AACO_ASSIGN(Source source, load_source(path));
  return std::move(source.graph);
}

core::Result<Model> prepare(Graph graph, const Bindings& given, const ShapeOptions& options) {
  return prepare(Source{std::move(graph), {}, {}}, given, options);
}

namespace {

core::Result<Model> prepare_once(Source source, const Bindings& given, const ShapeOptions& options) {
  Model model;
  model.graph = std::move(source.graph);
  const std::string items = batch_symbol(model.graph);
  AACO_ASSIGN(model.dimensions, bind_dimensions(model.graph, given, source.ranges));
  model.shapes = infer_shapes(model.graph, options);
  model.shapes.assumptions.insert(model.shapes.assumptions.begin(), source.assumptions.begin(), source.assumptions.end());
  model.items = items_of(model.graph, items, model.dimensions.sizes);
  return model;
}

constexpr std::int64_t kUsualLength = 128;  // of sequences (usual_size())

// Lengths that nobody gave and that are taken to be the usual one.
std::vector<std::string> assumed_lengths(const Graph& graph, const Bindings& given) {
  std::vector<std::string> names = free_symbols(graph);
  std::erase_if(names, [&](const std::string& name) { return given.contains(name) || usual_size(name, 2, 1) != kUsualLength; });
  return names;
}

// Sizes of constants that a table of positions may have, the largest first.
std::vector<std::int64_t> shorter_lengths(const Graph& graph) {
  constexpr std::size_t kMaxTries = 8;
  std::set<std::int64_t, std::greater<>> sizes;
  for (const Initializer& one : graph.initializers)
    if (const auto& shape = graph.tensor(one.tensor).shape; shape && shape->size() > 1)
      for (const Dimension& dimension : *shape)
        if (dimension.size > 1 && dimension.size < kUsualLength) sizes.insert(dimension.size);
  std::vector<std::int64_t> list(sizes.begin(), sizes.end());
  list.resize(std::min(list.size(), kMaxTries));
  return list;
}

// The usual length may be more than the model's own tables of positions hold: then the longest that fits.
std::optional<Model> shorter(const Source& source, const std::vector<std::string>& names, const Bindings& given,
                             const ShapeOptions& options) {
  for (const std::int64_t length : shorter_lengths(source.graph)) {
    Bindings sizes = given;
    for (const std::string& name : names) sizes[name] = length;
    auto model = prepare_once(source, sizes, options);
    if (!model || !model->shapes.problems.empty()) continue;
    for (const std::string& name : names)
      model->dimensions.assumptions.push_back("'" + name + "' has no fixed size; assumed " + std::to_string(length) +
                                              " (the longest that the model's tables hold)");
    return *std::move(model);
  }
  return std::nullopt;
}

}  // namespace

core::Result<Model> prepare(Source source, const Bindings& given, const ShapeOptions& options) {
  AACO_TRY(inline_functions(source.graph));
  const std::vector<std::string> assumed = assumed_lengths(source.graph, given);
  const std::optional<Source> again = assumed.empty() ? std::nullopt : std::optional(source);
  AACO_ASSIGN(Model model, prepare_once(std::move(source), given, options));
  if (again && !model.shapes.problems.empty())
    if (auto fitting = shorter(*again, assumed, given, options)) return *std::move(fitting);
  return model;
}

core::Result<Model> open_model(const std::string& path, const Bindings& given, const ShapeOptions& options) {
  AACO_ASSIGN(const ModelFormat format, sniff_model(path));
  AACO_ASSIGN(Source source, load_source(path));
  AACO_ASSIGN(Model model, prepare(std::move(source), given, options));
  model.format = format;
  return model;
}

}  // namespace aaco::graph
