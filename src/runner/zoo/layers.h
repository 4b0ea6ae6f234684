#pragma once

#include "runner/zoo/builder.h"

// The layers the networks are made of, each with the node structure that exporters write.
namespace aaco::runner::zoo {

// Mean square of a unit normal variable after an activation.
inline constexpr double kLinear = 1.0;
inline constexpr double kAfterRelu = 0.5;
inline constexpr double kAfterSilu = 0.355;
inline constexpr double kAfterGelu = 0.425;

struct ConvShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t groups = 1;
  bool bias = false;
  double input_energy = kAfterRelu;  // mean square of what comes in, so that as much goes out
};

// Weights scaled so that activations keep the size of their inputs through depth (He et al. 2015, "Delving deep into
// rectifiers").
Fill fan_in_fill(std::int64_t fan_in, double input_energy);

TensorId conv(Builder& b, const std::string& name, TensorId x, const ConvShape& shape);
// `gain`: centre of the scale; residual branches end in less than one so that the sum does not grow with depth.
TensorId batch_norm(Builder& b, const std::string& name, TensorId x, std::int64_t channels, double gain = 1.0);
TensorId linear(Builder& b, const std::string& name, TensorId x, std::int64_t in, std::int64_t out);  // x: [n, in] -> Gemm
TensorId relu(Builder& b, TensorId x);
TensorId relu6(Builder& b, TensorId x);
TensorId silu(Builder& b, TensorId x);
TensorId max_pool(Builder& b, TensorId x, std::int64_t kernel, std::int64_t stride, std::int64_t pad, bool ceil = false);
// Global average pooling and flattening: [n, c, h, w] -> [n, c].
TensorId global_pool(Builder& b, TensorId x);

}  // namespace aaco::runner::zoo
