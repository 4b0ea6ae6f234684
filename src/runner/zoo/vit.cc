#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"
#include "runner/zoo/transformer.h"

// Dosovitskiy et al. 2020, "An Image is Worth 16x16 Words", B and L with patches of 16 and 32, in torchvision's form (query, key
// and value in one projection).
namespace aaco::runner::zoo {
namespace {

struct Size {
  std::int64_t patch = 16, width = 768, heads = 12;
  int layers = 12;
  [[nodiscard]] std::int64_t head_size() const { return width / heads; }
  [[nodiscard]] std::int64_t hidden() const { return 4 * width; }
  [[nodiscard]] std::int64_t patches() const { return (224 / patch) * (224 / patch); }
};
constexpr double kEpsilon = 1e-6;

TensorId self_attention(Builder& b, TensorId x, const Size& size) {
  const std::int64_t width = size.width;
  const Builder::Scope scope(b, "self_attention");
  const TensorId joint = dense(b, "in_proj", x, width, 3 * width);
  const std::vector<TensorId> parts =
      b.node_n("Split", 3, {joint, b.constant({width, width, width})}, {{"axis", std::int64_t{-1}}});
  const TensorId q = split_heads(b, parts[0], size.heads, size.head_size());
  const TensorId k = split_heads(b, parts[1], size.heads, size.head_size());
  const TensorId v = split_heads(b, parts[2], size.heads, size.head_size());
  return dense(b, "out_proj", merge_heads(b, attend(b, q, k, v, size.head_size(), std::nullopt), width), width, width);
}

TensorId encoder_layer(Builder& b, TensorId x, const Size& size) {
  const std::int64_t width = size.width;
  x = b.node("Add", {self_attention(b, layer_norm(b, "ln_1", x, width, kEpsilon), size), x});
  TensorId y = layer_norm(b, "ln_2", x, width, kEpsilon);
  {
    const Builder::Scope scope(b, "mlp");
    y = dense(b, "3", gelu(b, dense(b, "0", y, width, size.hidden())), size.hidden(), width, true, kAfterGelu);
  }
  return b.node("Add", {x, y});
}

// The image as a sequence: one vector a patch, the class token before them.
TensorId patches(Builder& b, TensorId image, const Size& size) {
  const std::int64_t width = size.width;
  TensorId x = conv(b, "conv_proj", image,
                    {.in = 3, .out = width, .kernel = size.patch, .stride = size.patch, .bias = true, .input_energy = kLinear});
  x = b.node("Transpose", {b.node("Reshape", {x, b.constant({0, width, -1})})}, {{"perm", Dims{0, 2, 1}}});
  const TensorId batch = dimension(b, image, 0);
  const TensorId shape = b.node("Concat", {batch, b.constant({1, width})}, {{"axis", std::int64_t{0}}});
  const TensorId token = b.node("Expand", {b.parameter("class_token", {1, 1, width}, {0.0, 0.05}), shape});
  x = b.node("Concat", {token, x}, {{"axis", std::int64_t{1}}});
  return b.node("Add", {x, b.parameter("encoder.pos_embedding", {1, size.patches() + 1, width}, {0.0, 0.05})});
}

core::Result<Blueprint> build(const Entry& entry, const Config& config, const Size& size) {
  const std::int64_t width = size.width;
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = patches(b, b.input("input", config.type, {"batch", 3, 224, 224}), size);
  {
    const Builder::Scope encoder(b, "encoder");
    for (int layer = 0; layer < size.layers; ++layer) {
      const Builder::Scope scope(b, "layers.encoder_layer_" + std::to_string(layer));
      x = encoder_layer(b, x, size);
    }
    x = layer_norm(b, "ln", x, width, kEpsilon);
  }
  x = b.node("Gather", {x, b.scalar(0)}, {{"axis", std::int64_t{1}}});
  return finish_classifier(std::move(b), linear(b, "heads.head", x, width, classes), classes);
}

}  // namespace

core::Result<Blueprint> build_vit_b16(const Entry& entry, const Config& config) { return build(entry, config, {}); }
core::Result<Blueprint> build_vit_b32(const Entry& entry, const Config& config) { return build(entry, config, {.patch = 32}); }
core::Result<Blueprint> build_vit_l16(const Entry& entry, const Config& config) {
  return build(entry, config, {.patch = 16, .width = 1024, .heads = 16, .layers = 24});
}
core::Result<Blueprint> build_vit_l32(const Entry& entry, const Config& config) {
  return build(entry, config, {.patch = 32, .width = 1024, .heads = 16, .layers = 24});
}

}  // namespace aaco::runner::zoo
