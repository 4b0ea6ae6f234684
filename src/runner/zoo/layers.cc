#include "runner/zoo/layers.h"

#include <cmath>

namespace aaco::runner::zoo {
namespace {

constexpr double kBatchNormEpsilon = 1e-5;
constexpr double kBatchNormMomentum = 0.9;

}  // namespace

Fill fan_in_fill(std::int64_t fan_in, double input_energy) {
  const double deviation = std::sqrt(1.0 / (input_energy * static_cast<double>(fan_in)));
  return {0.0, deviation * std::sqrt(3.0)};  // a uniform law of half width w has the deviation w / sqrt(3)
}

TensorId conv(Builder& b, const std::string& name, TensorId x, const ConvShape& shape) {
  const Builder::Scope scope(b, name);
  const std::int64_t fan_in = shape.in / shape.groups * shape.kernel * shape.kernel;
  std::vector<TensorId> inputs = {x, b.parameter("weight", {shape.out, shape.in / shape.groups, shape.kernel, shape.kernel},
                                                 fan_in_fill(fan_in, shape.input_energy))};
  if (shape.bias) inputs.push_back(b.parameter("bias", {shape.out}, {0.0, 0.05}));
  return b.node("Conv", std::move(inputs),
                {{"dilations", Dims{1, 1}},
                 {"group", shape.groups},
                 {"kernel_shape", Dims{shape.kernel, shape.kernel}},
                 {"pads", Dims{shape.pad, shape.pad, shape.pad, shape.pad}},
                 {"strides", Dims{shape.stride, shape.stride}}});
}

TensorId batch_norm(Builder& b, const std::string& name, TensorId x, std::int64_t channels, double gain) {
  const Builder::Scope scope(b, name);
  return b.node("BatchNormalization",
                {x, b.parameter("weight", {channels}, {gain, 0.1 * gain}), b.parameter("bias", {channels}, {0.0, 0.1}),
                 b.buffer("running_mean", {channels}, {0.0, 0.1}), b.buffer("running_var", {channels}, {1.0, 0.2})},
                {{"epsilon", kBatchNormEpsilon}, {"momentum", kBatchNormMomentum}});
}

TensorId linear(Builder& b, const std::string& name, TensorId x, std::int64_t in, std::int64_t out) {
  const Builder::Scope scope(b, name);
  return b.node("Gemm",
                {x, b.parameter("weight", {out, in}, fan_in_fill(in, kAfterRelu)), b.parameter("bias", {out}, {0.0, 0.05})},
                {{"alpha", 1.0}, {"beta", 1.0}, {"transB", std::int64_t{1}}});
}

TensorId relu(Builder& b, TensorId x) { return b.node("Relu", {x}); }

TensorId relu6(Builder& b, TensorId x) { return b.node("Clip", {x, b.real(0), b.real(6)}); }

TensorId silu(Builder& b, TensorId x) { return b.node("Mul", {x, b.node("Sigmoid", {x})}); }

TensorId max_pool(Builder& b, TensorId x, std::int64_t kernel, std::int64_t stride, std::int64_t pad, bool ceil) {
  return b.node("MaxPool", {x},
                {{"ceil_mode", std::int64_t{ceil ? 1 : 0}},
                 {"kernel_shape", Dims{kernel, kernel}},
                 {"pads", Dims{pad, pad, pad, pad}},
                 {"strides", Dims{stride, stride}}});
}

TensorId global_pool(Builder& b, TensorId x) {
  return b.node("Flatten", {b.node("GlobalAveragePool", {x})}, {{"axis", std::int64_t{1}}});
}

}  // namespace aaco::runner::zoo
