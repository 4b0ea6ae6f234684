#include <algorithm>
#include <span>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// Howard et al. 2019, "Searching for MobileNetV3", tables 1 and 2, in torchvision's form.
namespace aaco::runner::zoo {
namespace {

enum class Activation { relu, hard_swish };

struct Block {
  std::int64_t kernel, hidden, out;
  bool squeezed;
  Activation activation;
  std::int64_t stride;
};

constexpr Activation kRe = Activation::relu, kHs = Activation::hard_swish;
constexpr Block kLarge[] = {{3, 16, 16, false, kRe, 1},  {3, 64, 24, false, kRe, 2},  {3, 72, 24, false, kRe, 1},
                            {5, 72, 40, true, kRe, 2},   {5, 120, 40, true, kRe, 1},  {5, 120, 40, true, kRe, 1},
                            {3, 240, 80, false, kHs, 2}, {3, 200, 80, false, kHs, 1}, {3, 184, 80, false, kHs, 1},
                            {3, 184, 80, false, kHs, 1}, {3, 480, 112, true, kHs, 1}, {3, 672, 112, true, kHs, 1},
                            {5, 672, 160, true, kHs, 2}, {5, 960, 160, true, kHs, 1}, {5, 960, 160, true, kHs, 1}};
constexpr Block kSmall[] = {{3, 16, 16, true, kRe, 2},  {3, 72, 24, false, kRe, 2}, {3, 88, 24, false, kRe, 1},
                            {5, 96, 40, true, kHs, 2},  {5, 240, 40, true, kHs, 1}, {5, 240, 40, true, kHs, 1},
                            {5, 120, 48, true, kHs, 1}, {5, 144, 48, true, kHs, 1}, {5, 288, 96, true, kHs, 2},
                            {5, 576, 96, true, kHs, 1}, {5, 576, 96, true, kHs, 1}};

constexpr double kAfterHardSwish = kAfterSilu;
constexpr double kAfterGate = kAfterHardSwish / 4;

TensorId activated(Builder& b, TensorId x, Activation activation) {
  return activation == kRe ? relu(b, x) : b.node("HardSwish", {x});
}

TensorId conv_bn(Builder& b, const std::string& name, TensorId x, const ConvShape& shape, double gain = 1.0) {
  const Builder::Scope scope(b, name);
  return batch_norm(b, "1", conv(b, "0", x, shape), shape.out, gain);
}

// A quarter of the channels, rounded to eights, never by more than a tenth down.
std::int64_t squeezed_channels(std::int64_t channels) {
  const std::int64_t quarter = channels / 4;
  const std::int64_t rounded = std::max<std::int64_t>(8, (quarter + 4) / 8 * 8);
  return rounded * 10 < quarter * 9 ? rounded + 8 : rounded;
}

TensorId squeeze_excite(Builder& b, const std::string& name, TensorId x, std::int64_t channels) {
  const Builder::Scope scope(b, name);
  const std::int64_t squeezed = squeezed_channels(channels);
  TensorId y = b.node("GlobalAveragePool", {x});
  y = relu(b, conv(b, "fc1", y, {.in = channels, .out = squeezed, .bias = true}));
  y = conv(b, "fc2", y, {.in = squeezed, .out = channels, .bias = true});
  return b.node("Mul", {b.node("HardSigmoid", {y}, {{"alpha", 1.0 / 6}}), x});
}

TensorId block(Builder& b, TensorId x, std::int64_t in, const Block& shape) {
  const Builder::Scope scope(b, "block");
  int member = 0;
  TensorId y = x;
  if (shape.hidden != in)
    y = activated(b, conv_bn(b, std::to_string(member++), y, {.in = in, .out = shape.hidden, .input_energy = kLinear}),
                  shape.activation);
  y = activated(b,
                conv_bn(b, std::to_string(member++), y,
                        {.in = shape.hidden,
                         .out = shape.hidden,
                         .kernel = shape.kernel,
                         .stride = shape.stride,
                         .pad = shape.kernel / 2,
                         .groups = shape.hidden}),
                shape.activation);
  if (shape.squeezed) y = squeeze_excite(b, std::to_string(member++), y, shape.hidden);
  const double energy = shape.squeezed ? kAfterGate : kAfterHardSwish;
  y = conv_bn(b, std::to_string(member), y, {.in = shape.hidden, .out = shape.out, .input_energy = energy}, 0.7);
  return shape.stride == 1 && in == shape.out ? b.node("Add", {x, y}) : y;
}

core::Result<Blueprint> build(const Entry& entry, const Config& config, std::span<const Block> blocks, std::int64_t width) {
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = image_input(b, entry, config);
  std::int64_t channels = 16;
  {
    const Builder::Scope features(b, "features");
    x = conv_bn(b, "0", x, {.in = 3, .out = channels, .kernel = 3, .stride = 2, .pad = 1, .input_energy = kLinear});
    x = activated(b, x, kHs);
    int number = 1;
    for (const Block& shape : blocks) {
      const Builder::Scope scope(b, std::to_string(number++));
      x = block(b, x, channels, shape);
      channels = shape.out;
    }
    x = conv_bn(b, std::to_string(number), x, {.in = channels, .out = 6 * channels, .input_energy = kLinear});
    x = activated(b, x, kHs);
    channels *= 6;
  }
  x = activated(b, linear(b, "classifier.0", global_pool(b, x), channels, width), kHs);
  return finish_classifier(std::move(b), linear(b, "classifier.3", x, width, classes), classes);
}

}  // namespace

core::Result<Blueprint> build_mobilenetv3_large(const Entry& entry, const Config& config) {
  return build(entry, config, kLarge, 1280);
}

core::Result<Blueprint> build_mobilenetv3_small(const Entry& entry, const Config& config) {
  return build(entry, config, kSmall, 1024);
}

}  // namespace aaco::runner::zoo
