#include "graph/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/handles.h"
#include "graph/onnx.h"

namespace aaco::graph {
namespace {

core::Result<std::string> head_of(const std::string& path) {
  const core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  std::array<char, 64> buffer{};
  const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
  if (count < 0) return core::fail_errno(errno, path);
  return std::string(buffer.data(), static_cast<std::size_t>(count));
}

}  // namespace

std::string_view to_string(ModelFormat format) {
  return format == ModelFormat::onnx ? "onnx" : format == ModelFormat::pt2 ? "pt2" : "tflite";
}

core::Result<ModelFormat> sniff_model(const std::string& path) {
  AACO_ASSIGN(const std::string head, head_of(path));
  return ModelFormat::onnx;
}

core::Result<Graph> load(const std::string& path) { return onnx::load(path); }

core::Result<Model> prepare(Graph graph, const Bindings& given, const ShapeOptions& options) {
  Model model;
  model.graph = std::move(graph);
  AACO_TRY(inline_functions(model.graph));
  AACO_ASSIGN(model.dimensions, bind_dimensions(model.graph, given));
  model.shapes = infer_shapes(model.graph, options);
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
