#include <array>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// Sandler et al. 2018, "MobileNetV2", width 1.0.
namespace aaco::runner::zoo {
namespace {

struct Stage {
  std::int64_t expansion;
  std::int64_t out;
  int blocks;
  std::int64_t stride;
};
constexpr std::array kStages = {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2},  Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                                Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}};

// Convolution, normalisation, clipped ReLU: the members "0", "1", "2" of a torchvision Conv2dNormActivation.
TensorId conv_bn_relu6(Builder& b, const std::string& name, TensorId x, const ConvShape& shape) {
  const Builder::Scope scope(b, name);
  return relu6(b, batch_norm(b, "1", conv(b, "0", x, shape), shape.out));
}

TensorId block(Builder& b, TensorId x, std::int64_t in, const Stage& stage, std::int64_t stride) {
  const Builder::Scope scope(b, "conv");
  const std::int64_t hidden = in * stage.expansion;
  int member = 0;
  TensorId y = x;
  if (stage.expansion != 1) y = conv_bn_relu6(b, std::to_string(member++), y, {.in = in, .out = hidden, .input_energy = kLinear});
  y = conv_bn_relu6(b, std::to_string(member++), y,
                    {.in = hidden, .out = hidden, .kernel = 3, .stride = stride, .pad = 1, .groups = hidden});
  y = conv(b, std::to_string(member), y, {.in = hidden, .out = stage.out});
  y = batch_norm(b, std::to_string(member + 1), y, stage.out, 0.7);
  return stride == 1 && in == stage.out ? b.node("Add", {x, y}) : y;
}

}  // namespace

core::Result<Blueprint> build_mobilenetv2(const Entry& entry, const Config& config) {
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = image_input(b, entry, config);
  std::int64_t channels = 32;
  {
    const Builder::Scope features(b, "features");
    x = conv_bn_relu6(b, "0", x, {.in = 3, .out = channels, .kernel = 3, .stride = 2, .pad = 1, .input_energy = kLinear});
    int number = 1;
    for (const Stage& stage : kStages) {
      for (int repeat = 0; repeat < stage.blocks; ++repeat) {
        const Builder::Scope scope(b, std::to_string(number++));
        x = block(b, x, channels, stage, repeat == 0 ? stage.stride : 1);
        channels = stage.out;
      }
    }
    x = conv_bn_relu6(b, std::to_string(number), x, {.in = channels, .out = 1280, .input_energy = kLinear});
  }
  return finish_classifier(std::move(b), linear(b, "classifier.1", global_pool(b, x), 1280, classes), classes);
}

}  // namespace aaco::runner::zoo
