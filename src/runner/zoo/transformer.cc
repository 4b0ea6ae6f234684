#include "runner/zoo/transformer.h"

#include <cmath>
#include <numbers>

#include "runner/zoo/layers.h"

namespace aaco::runner::zoo {
namespace {

constexpr double kEmbeddingDeviation = 0.02;  // what these models are initialised with
constexpr std::int64_t kOnnxBool = 9;
const double kSpreadOfDeviation = std::sqrt(3.0);

}  // namespace

TensorId dense(Builder& b, const std::string& name, TensorId x, std::int64_t in, std::int64_t out, bool bias,
               double input_energy) {
  const Builder::Scope scope(b, name);
  const TensorId y = b.node("MatMul", {x, b.parameter("weight", {in, out}, fan_in_fill(in, input_energy))});
  return bias ? b.node("Add", {b.parameter("bias", {out}, {0.0, 0.02}), y}) : y;
}

TensorId layer_norm(Builder& b, const std::string& name, TensorId x, std::int64_t width, double epsilon) {
  const Builder::Scope scope(b, name);
  return b.node("LayerNormalization", {x, b.parameter("weight", {width}, {1.0, 0.1}), b.parameter("bias", {width}, {0.0, 0.05})},
                {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}});
}

TensorId gelu(Builder& b, TensorId x) {
  TensorId y = b.node("Erf", {b.node("Div", {x, b.real(std::numbers::sqrt2)})});
  y = b.node("Add", {y, b.real(1)});
  return b.node("Mul", {b.node("Mul", {x, y}), b.real(0.5)});
}

TensorId gelu_tanh(Builder& b, TensorId x) {
  const TensorId half = b.node("Mul", {x, b.real(0.5)});
  TensorId y = b.node("Mul", {b.node("Pow", {x, b.real(3)}), b.real(0.044715)});
  y = b.node("Mul", {b.node("Add", {x, y}), b.real(std::sqrt(2 / std::numbers::pi))});
  y = b.node("Add", {b.node("Tanh", {y}), b.real(1)});
  return b.node("Mul", {half, y});
}

Embedding embed(Builder& b, const std::string& name, TensorId indices, std::int64_t count, std::int64_t width) {
  const Builder::Scope scope(b, name);
  const TensorId table = b.parameter("weight", {count, width}, {0.0, kEmbeddingDeviation * kSpreadOfDeviation});
  return {table, b.node("Gather", {table, indices}, {{"axis", std::int64_t{0}}})};
}

TensorId split_heads(Builder& b, TensorId x, std::int64_t heads, std::int64_t size) {
  return b.node("Transpose", {b.node("Reshape", {x, b.constant({0, 0, heads, size})})}, {{"perm", Dims{0, 2, 1, 3}}});
}

TensorId merge_heads(Builder& b, TensorId x, std::int64_t width) {
  return b.node("Reshape", {b.node("Transpose", {x}, {{"perm", Dims{0, 2, 1, 3}}}), b.constant({0, 0, width})});
}

TensorId attend(Builder& b, TensorId q, TensorId k, TensorId v, std::int64_t size, std::optional<TensorId> mask) {
  const TensorId across = b.node("Transpose", {k}, {{"perm", Dims{0, 1, 3, 2}}});
  TensorId scores = b.node("Div", {b.node("MatMul", {q, across}), b.real(std::sqrt(static_cast<double>(size)))});
  if (mask) scores = b.node("Add", {scores, *mask});
  return b.node("MatMul", {b.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), v});
}

TensorId dimension(Builder& b, TensorId x, std::int64_t axis) {
  return b.node("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}

TensorId additive_mask(Builder& b, TensorId keep) {
  const double lowest = b.type() == ElementType::float16 ? -65504.0 : -3.4028234663852886e38;
  return b.node("Where", {keep, b.real(0), b.real(lowest)});
}

TensorId causal_keep(Builder& b, TensorId input_ids, TensorId attention_mask) {
  const auto scalar_of = [&](TensorId one) { return b.node("Squeeze", {one, b.constant({0})}); };
  const TensorId total = scalar_of(dimension(b, attention_mask, 1));
  const TensorId now = scalar_of(dimension(b, input_ids, 1));
  const TensorId past = b.node("Sub", {total, now});
  const TensorId queries = b.node("Unsqueeze", {b.node("Range", {past, total, b.scalar(1)}), b.constant({1})});
  const TensorId keys = b.node("Unsqueeze", {b.node("Range", {b.scalar(0), total, b.scalar(1)}), b.constant({0})});
  const TensorId causal = b.node("LessOrEqual", {keys, queries});
  const TensorId real_tokens = b.node("Unsqueeze", {b.node("Cast", {attention_mask}, {{"to", kOnnxBool}}), b.constant({1, 2})});
  return b.node("And", {causal, real_tokens});
}

}  // namespace aaco::runner::zoo
