#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/batch.h"
#include "graph/graph.h"
#include "graph/shapes.h"
#include "graph/source.h"

// A model's file, whatever wrote it.
namespace aaco::graph {

enum class ModelFormat { onnx, pt2, tflite };
std::string_view to_string(ModelFormat format);
// By content: what the first bytes say.
core::Result<ModelFormat> sniff_model(const std::string& path);

// "llm.tflite#decode" -> the file and which of the programs in it; the second is empty where a file of the whole name exists or
// nothing follows a '#'.
struct ModelName {
  std::string path, entry;
};
ModelName split_model_name(const std::string& name);

// The graph without its weights. `entry`: which of several programs of the file (a signature of TFLite, a model of a .pt2
// archive); empty: the one the file's runtime takes. Fails with invalid_input on damage, for what is no model, saying what it is,
// and for an entry that the file does not have, naming those it has.
core::Result<Source> load_source(const std::string& path, const std::string& entry = {});
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
core::Result<Model> prepare(Source source, const Bindings& given = {}, const ShapeOptions& options = {});
core::Result<Model> open_model(const std::string& path, const Bindings& given = {}, const ShapeOptions& options = {});

}  // namespace aaco::graph
