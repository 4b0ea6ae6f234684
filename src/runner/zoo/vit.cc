#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"
#include "runner/zoo/transformer.h"

// Dosovitskiy et al. 2020, "An Image is Worth 16x16 Words", B/16, in torchvision's form (query, key and value in one projection).
namespace aaco::runner::zoo {
namespace {

constexpr std::int64_t kWidth = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kHeadSize = kWidth / kHeads;
constexpr std::int64_t kHidden = 3072;
constexpr std::int64_t kPatch = 16;
constexpr std::int64_t kPatches = (224 / kPatch) * (224 / kPatch);
constexpr int kLayers = 12;
constexpr double kEpsilon = 1e-6;

TensorId self_attention(Builder& b, TensorId x) {
  const Builder::Scope scope(b, "self_attention");
  const TensorId joint = dense(b, "in_proj", x, kWidth, 3 * kWidth);
  const std::vector<TensorId> parts =
      b.node_n("Split", 3, {joint, b.constant({kWidth, kWidth, kWidth})}, {{"axis", std::int64_t{-1}}});
  const TensorId q = split_heads(b, parts[0], kHeads, kHeadSize);
  const TensorId k = split_heads(b, parts[1], kHeads, kHeadSize);
  const TensorId v = split_heads(b, parts[2], kHeads, kHeadSize);
  return dense(b, "out_proj", merge_heads(b, attend(b, q, k, v, kHeadSize, std::nullopt), kWidth), kWidth, kWidth);
}

TensorId encoder_layer(Builder& b, TensorId x) {
  x = b.node("Add", {self_attention(b, layer_norm(b, "ln_1", x, kWidth, kEpsilon)), x});
  TensorId y = layer_norm(b, "ln_2", x, kWidth, kEpsilon);
  {
    const Builder::Scope scope(b, "mlp");
    y = dense(b, "3", gelu(b, dense(b, "0", y, kWidth, kHidden)), kHidden, kWidth, true, kAfterGelu);
  }
  return b.node("Add", {x, y});
}

// The image as a sequence: one vector a patch, the class token before them.
TensorId patches(Builder& b, TensorId image) {
  TensorId x = conv(b, "conv_proj", image,
                    {.in = 3, .out = kWidth, .kernel = kPatch, .stride = kPatch, .bias = true, .input_energy = kLinear});
  x = b.node("Transpose", {b.node("Reshape", {x, b.constant({0, kWidth, -1})})}, {{"perm", Dims{0, 2, 1}}});
  const TensorId batch = dimension(b, image, 0);
  const TensorId shape = b.node("Concat", {batch, b.constant({1, kWidth})}, {{"axis", std::int64_t{0}}});
  const TensorId token = b.node("Expand", {b.parameter("class_token", {1, 1, kWidth}, {0.0, 0.05}), shape});
  x = b.node("Concat", {token, x}, {{"axis", std::int64_t{1}}});
  return b.node("Add", {x, b.parameter("encoder.pos_embedding", {1, kPatches + 1, kWidth}, {0.0, 0.05})});
}

}  // namespace

core::Result<Blueprint> build_vit_b16(const Entry& entry, const Config& config) {
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = patches(b, b.input("input", config.type, {"batch", 3, 224, 224}));
  {
    const Builder::Scope encoder(b, "encoder");
    for (int layer = 0; layer < kLayers; ++layer) {
      const Builder::Scope scope(b, "layers.encoder_layer_" + std::to_string(layer));
      x = encoder_layer(b, x);
    }
    x = layer_norm(b, "ln", x, kWidth, kEpsilon);
  }
  x = b.node("Gather", {x, b.scalar(0)}, {{"axis", std::int64_t{1}}});
  return finish_classifier(std::move(b), linear(b, "heads.head", x, kWidth, classes), classes);
}

}  // namespace aaco::runner::zoo
