#include <array>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// He et al. 2015, "Deep Residual Learning", in torchvision's form (stride in the 3x3 convolution of a bottleneck).
namespace aaco::runner::zoo {
namespace {

constexpr double kBranchGain = 0.5;

struct Plan {
  bool bottleneck = false;
  std::array<int, 4> blocks;
};

struct Stage {
  std::int64_t in = 64;
  std::int64_t width = 64;
  std::int64_t stride = 1;
};

TensorId conv_bn(Builder& b, const std::string& number, TensorId x, const ConvShape& shape, double gain = 1.0) {
  return batch_norm(b, "bn" + number, conv(b, "conv" + number, x, shape), shape.out, gain);
}

TensorId shortcut(Builder& b, TensorId x, const Stage& stage, std::int64_t out) {
  if (stage.in == out && stage.stride == 1) return x;
  const Builder::Scope scope(b, "downsample");
  return batch_norm(b, "1", conv(b, "0", x, {.in = stage.in, .out = out, .stride = stage.stride}), out);
}

TensorId block(Builder& b, TensorId x, const Stage& stage, bool bottleneck) {
  const std::int64_t width = stage.width;
  const std::int64_t out = bottleneck ? width * 4 : width;
  TensorId y;
  if (bottleneck) {
    y = relu(b, conv_bn(b, "1", x, {.in = stage.in, .out = width}));
    y = relu(b, conv_bn(b, "2", y, {.in = width, .out = width, .kernel = 3, .stride = stage.stride, .pad = 1}));
    y = conv_bn(b, "3", y, {.in = width, .out = out}, kBranchGain);
  } else {
    y = relu(b, conv_bn(b, "1", x, {.in = stage.in, .out = width, .kernel = 3, .stride = stage.stride, .pad = 1}));
    y = conv_bn(b, "2", y, {.in = width, .out = width, .kernel = 3, .pad = 1}, kBranchGain);
  }
  return relu(b, b.node("Add", {y, shortcut(b, x, stage, out)}));
}

core::Result<Blueprint> build(const Entry& entry, const Config& config, const Plan& plan) {
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = image_input(b, entry, config);
  x = relu(b, conv_bn(b, "1", x, {.in = 3, .out = 64, .kernel = 7, .stride = 2, .pad = 3, .input_energy = kLinear}));
  x = max_pool(b, x, 3, 2, 1);
  std::int64_t channels = 64;
  for (std::size_t index = 0; index < plan.blocks.size(); ++index) {
    const Builder::Scope layer(b, "layer" + std::to_string(index + 1));
    const std::int64_t width = std::int64_t{64} << index;
    for (int number = 0; number < plan.blocks[index]; ++number) {
      const Builder::Scope scope(b, std::to_string(number));
      x = block(b, x, {channels, width, number == 0 && index > 0 ? 2 : 1}, plan.bottleneck);
      channels = plan.bottleneck ? width * 4 : width;
    }
  }
  return finish_classifier(std::move(b), linear(b, "fc", global_pool(b, x), channels, classes), classes);
}

}  // namespace

core::Result<Blueprint> build_resnet18(const Entry& entry, const Config& config) {
  return build(entry, config, {.bottleneck = false, .blocks = {2, 2, 2, 2}});
}

core::Result<Blueprint> build_resnet34(const Entry& entry, const Config& config) {
  return build(entry, config, {.bottleneck = false, .blocks = {3, 4, 6, 3}});
}

core::Result<Blueprint> build_resnet50(const Entry& entry, const Config& config) {
  return build(entry, config, {.bottleneck = true, .blocks = {3, 4, 6, 3}});
}

core::Result<Blueprint> build_resnet101(const Entry& entry, const Config& config) {
  return build(entry, config, {.bottleneck = true, .blocks = {3, 4, 23, 3}});
}

core::Result<Blueprint> build_resnet152(const Entry& entry, const Config& config) {
  return build(entry, config, {.bottleneck = true, .blocks = {3, 8, 36, 3}});
}

}  // namespace aaco::runner::zoo
