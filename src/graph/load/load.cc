#include "graph/load.h"

#include "graph/onnx.h"
#include "graph/pt2.h"
#include "graph/tflite.h"

namespace aaco::graph {

core::Result<Graph> load(const std::string& path) {
  AACO_ASSIGN(const ModelFormat format, sniff_model(path));
  switch (format) {
    case ModelFormat::onnx: return onnx::load(path);
    case ModelFormat::pt2: return pt2::load(path);
    case ModelFormat::tflite: return tflite::load(path);
  }
  return core::fail(core::ErrorCode::unsupported, path + " is of a format that is not read");
}

core::Result<Model> prepare(Graph graph, const Bindings& given, const ShapeOptions& options) {
  Model model;
  model.graph = std::move(graph);
  AACO_TRY(inline_functions(model.graph));
  const std::string items = batch_symbol(model.graph);
  AACO_ASSIGN(model.dimensions, bind_dimensions(model.graph, given));
  model.shapes = infer_shapes(model.graph, options);
  model.items = items_of(model.graph, items, model.dimensions.sizes);
  return model;
}

core::Result<Model> open_model(const std::string& path, const Bindings& given, const ShapeOptions& options) {
  AACO_ASSIGN(const ModelFormat format, sniff_model(path));
  AACO_ASSIGN(Graph graph, load(path));
  AACO_ASSIGN(Model model, prepare(std::move(graph), given, options));
  model.format = format;
  return model;
}

}  // namespace aaco::graph
