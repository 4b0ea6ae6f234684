#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// Graphs made to show one bottleneck each.
namespace aaco::runner::zoo {

core::Result<Blueprint> build_mlp(const Entry& entry, const Config& config) {
  const std::int64_t width = entry.value(config, "width");
  const std::int64_t layers = entry.value(config, "layers");
  const std::int64_t in = entry.value(config, "inputs");
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = b.input("input", config.type, {"batch", in});
  for (std::int64_t layer = 0; layer < layers; ++layer)
    x = relu(b, linear(b, "layers." + std::to_string(layer), x, layer == 0 ? in : width, width));
  return finish_classifier(std::move(b), linear(b, "head", x, width, classes), classes);
}

// A chain of operators on a few hundred bytes: what it costs is issuing them. No two neighbours can be fused or folded, and the
// values stay in (-1, 1), far from denormals.
core::Result<Blueprint> build_launch_bound(const Entry& entry, const Config& config) {
  const std::int64_t nodes = entry.value(config, "nodes");
  const std::int64_t width = entry.value(config, "width");
  Builder b(entry.name, config.type);
  TensorId x = b.input("input", config.type, {"batch", width});
  const TensorId shift = b.parameter("shift", {width}, {0.5, 0.25});
  for (std::int64_t node = 0; node < nodes; ++node) x = node % 2 == 0 ? b.node("Add", {x, shift}) : b.node("Tanh", {x});
  b.output(x, "output", config.type, {"batch", width});
  return std::move(b).finish();
}

// Element-wise operators over tensors far larger than any cache: what it costs is moving bytes. Each reads and writes all of
// them.
core::Result<Blueprint> build_memory_bound(const Entry& entry, const Config& config) {
  const std::int64_t rows = entry.value(config, "rows");
  const std::int64_t columns = entry.value(config, "columns");
  const std::int64_t layers = entry.value(config, "layers");
  Builder b(entry.name, config.type);
  TensorId x = b.input("input", config.type, {"batch", rows, columns});
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const Builder::Scope scope(b, std::to_string(layer));
    x = b.node("Mul", {x, b.parameter("scale", {columns}, {1.0, 0.05})});
    x = b.node("Add", {x, b.parameter("shift", {columns}, {0.1, 0.05})});
    x = relu(b, x);
  }
  b.output(x, "output", config.type, {"batch", rows, columns});
  return std::move(b).finish();
}

}  // namespace aaco::runner::zoo
