#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/batch.h"
#include "graph/graph.h"
#include "graph/shapes.h"

// A model's file, whatever wrote it.
namespace aaco::graph {

enum class ModelFormat { onnx, pt2, tflite };
std::string_view to_string(ModelFormat format);
// By content: what the first bytes say.
core::Result<ModelFormat> sniff_model(const std::string& path);

// The graph without its weights. Fails with invalid_input on damage, and for what is no model, saying what it is.
core::Result<Graph> load(const std::string& path);

// A model ready to reason about: functions inlined, every dimension bound, shapes inferred.
struct Model {
  ModelFormat format = ModelFormat::onnx;
  Graph graph;
  BoundDimensions dimensions;
  ShapeReport shapes;
  Items items;
};
core::Result<Model> prepare(Graph graph, const Bindings& given = {}, const ShapeOptions& options = {});
core::Result<Model> open_model(const std::string& path, const Bindings& given = {}, const ShapeOptions& options = {});

}  // namespace aaco::graph
