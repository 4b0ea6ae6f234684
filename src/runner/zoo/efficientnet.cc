#include <algorithm>
#include <array>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// Tan and Le 2019, "EfficientNet", B0 and B1 (the same widths, 1.1 times the depth), in torchvision's form.
namespace aaco::runner::zoo {
namespace {

struct Stage {
  std::int64_t expansion;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t out;
  int blocks;
};
constexpr std::array kStages = {Stage{1, 3, 1, 16, 1},  Stage{6, 3, 2, 24, 2},  Stage{6, 5, 2, 40, 2}, Stage{6, 3, 2, 80, 3},
                                Stage{6, 5, 1, 112, 3}, Stage{6, 5, 2, 192, 4}, Stage{6, 3, 1, 320, 1}};

// A gate is the sigmoid of something near zero: it halves its input.
constexpr double kAfterGate = kAfterSilu / 4;

TensorId conv_bn(Builder& b, const std::string& name, TensorId x, const ConvShape& shape, double gain = 1.0) {
  const Builder::Scope scope(b, name);
  return batch_norm(b, "1", conv(b, "0", x, shape), shape.out, gain);
}

TensorId squeeze_excite(Builder& b, const std::string& name, TensorId x, std::int64_t channels, std::int64_t squeezed) {
  const Builder::Scope scope(b, name);
  TensorId y = b.node("GlobalAveragePool", {x});
  y = silu(b, conv(b, "fc1", y, {.in = channels, .out = squeezed, .bias = true}));
  y = b.node("Sigmoid", {conv(b, "fc2", y, {.in = squeezed, .out = channels, .bias = true})});
  return b.node("Mul", {y, x});
}

TensorId block(Builder& b, TensorId x, std::int64_t in, const Stage& stage, std::int64_t stride) {
  const Builder::Scope scope(b, "block");
  const std::int64_t hidden = in * stage.expansion;
  int member = 0;
  TensorId y = x;
  if (stage.expansion != 1)
    y = silu(b, conv_bn(b, std::to_string(member++), y, {.in = in, .out = hidden, .input_energy = kLinear}));
  y = silu(b, conv_bn(b, std::to_string(member++), y,
                      {.in = hidden,
                       .out = hidden,
                       .kernel = stage.kernel,
                       .stride = stride,
                       .pad = stage.kernel / 2,
                       .groups = hidden,
                       .input_energy = kAfterSilu}));
  y = squeeze_excite(b, std::to_string(member++), y, hidden, std::max<std::int64_t>(1, in / 4));
  y = conv_bn(b, std::to_string(member), y, {.in = hidden, .out = stage.out, .input_energy = kAfterGate}, 0.7);
  return stride == 1 && in == stage.out ? b.node("Add", {y, x}) : y;
}

// `deeper`: tenths of B0's depth that each stage has, rounded up.
core::Result<Blueprint> build(const Entry& entry, const Config& config, int deeper) {
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = image_input(b, entry, config);
  std::int64_t channels = 32;
  {
    const Builder::Scope features(b, "features");
    x = silu(b, conv_bn(b, "0", x, {.in = 3, .out = channels, .kernel = 3, .stride = 2, .pad = 1, .input_energy = kLinear}));
    for (std::size_t index = 0; index < kStages.size(); ++index) {
      const Builder::Scope stage(b, std::to_string(index + 1));
      for (int number = 0; number < (kStages[index].blocks * deeper + 9) / 10; ++number) {
        const Builder::Scope scope(b, std::to_string(number));
        x = block(b, x, channels, kStages[index], number == 0 ? kStages[index].stride : 1);
        channels = kStages[index].out;
      }
    }
    x = silu(b, conv_bn(b, "8", x, {.in = channels, .out = 1280, .input_energy = kLinear}));
  }
  return finish_classifier(std::move(b), linear(b, "classifier.1", global_pool(b, x), 1280, classes), classes);
}

}  // namespace

core::Result<Blueprint> build_efficientnet_b0(const Entry& entry, const Config& config) { return build(entry, config, 10); }
core::Result<Blueprint> build_efficientnet_b1(const Entry& entry, const Config& config) { return build(entry, config, 11); }

}  // namespace aaco::runner::zoo
