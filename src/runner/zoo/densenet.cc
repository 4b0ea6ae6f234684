#include <array>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// Huang et al. 2016, "Densely Connected Convolutional Networks": normalisation and ReLU come before each convolution.
namespace aaco::runner::zoo {
namespace {

constexpr std::int64_t kGrowth = 32;
constexpr std::int64_t kBottleneck = 4 * kGrowth;
constexpr std::array kBlocks = {6, 12, 24, 16};

TensorId dense_layer(Builder& b, const std::string& name, TensorId x, std::int64_t channels) {
  const Builder::Scope scope(b, name);
  TensorId y = conv(b, "conv1", relu(b, batch_norm(b, "norm1", x, channels)), {.in = channels, .out = kBottleneck});
  y = conv(b, "conv2", relu(b, batch_norm(b, "norm2", y, kBottleneck)),
           {.in = kBottleneck, .out = kGrowth, .kernel = 3, .pad = 1});
  return b.node("Concat", {x, y}, {{"axis", std::int64_t{1}}});
}

TensorId transition(Builder& b, const std::string& name, TensorId x, std::int64_t channels) {
  const Builder::Scope scope(b, name);
  x = conv(b, "conv", relu(b, batch_norm(b, "norm", x, channels)), {.in = channels, .out = channels / 2});
  return b.node("AveragePool", {x}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
}

}  // namespace

core::Result<Blueprint> build_densenet121(const Entry& entry, const Config& config) {
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = image_input(b, entry, config);
  std::int64_t channels = 64;
  {
    const Builder::Scope features(b, "features");
    x = conv(b, "conv0", x, {.in = 3, .out = channels, .kernel = 7, .stride = 2, .pad = 3, .input_energy = kLinear});
    x = max_pool(b, relu(b, batch_norm(b, "norm0", x, channels)), 3, 2, 1);
    for (std::size_t block = 0; block < kBlocks.size(); ++block) {
      const std::string number = std::to_string(block + 1);
      {
        const Builder::Scope scope(b, "denseblock" + number);
        for (int layer = 1; layer <= kBlocks[block]; ++layer, channels += kGrowth)
          x = dense_layer(b, "denselayer" + std::to_string(layer), x, channels);
      }
      if (block + 1 == kBlocks.size()) break;
      x = transition(b, "transition" + number, x, channels);
      channels /= 2;
    }
    x = relu(b, batch_norm(b, "norm5", x, channels));
  }
  return finish_classifier(std::move(b), linear(b, "classifier", global_pool(b, x), channels, classes), classes);
}

}  // namespace aaco::runner::zoo
