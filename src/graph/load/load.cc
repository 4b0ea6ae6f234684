#include "graph/load.h"

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

core::Result<Model> prepare(Source source, const Bindings& given, const ShapeOptions& options) {
  Model model;
  model.graph = std::move(source.graph);
  AACO_TRY(inline_functions(model.graph));
  const std::string items = batch_symbol(model.graph);
  AACO_ASSIGN(model.dimensions, bind_dimensions(model.graph, given, source.ranges));
  model.shapes = infer_shapes(model.graph, options);
  model.shapes.assumptions.insert(model.shapes.assumptions.begin(), source.assumptions.begin(), source.assumptions.end());
  model.items = items_of(model.graph, items, model.dimensions.sizes);
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
