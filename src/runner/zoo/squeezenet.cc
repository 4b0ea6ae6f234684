#include <array>
#include <span>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// Iandola et al. 2016, "SqueezeNet"; 1.1 is its authors' later form with pooling further up.
namespace aaco::runner::zoo {
namespace {

struct Fire {
  std::int64_t squeeze = 0;  // 0: a pooling layer stands here
  std::int64_t expand = 0;
};
constexpr std::array kVersion10 = {Fire{16, 64},  Fire{16, 64},  Fire{32, 128}, Fire{}, Fire{32, 128},
                                   Fire{48, 192}, Fire{48, 192}, Fire{64, 256}, Fire{}, Fire{64, 256}};
constexpr std::array kVersion11 = {Fire{16, 64}, Fire{16, 64},  Fire{},        Fire{32, 128}, Fire{32, 128},
                                   Fire{},       Fire{48, 192}, Fire{48, 192}, Fire{64, 256}, Fire{64, 256}};

TensorId conv_relu(Builder& b, const std::string& name, TensorId x, ConvShape shape) {
  shape.bias = true;
  return relu(b, conv(b, name, x, shape));
}

TensorId fire(Builder& b, TensorId x, std::int64_t in, const Fire& shape) {
  const TensorId s = conv_relu(b, "squeeze", x, {.in = in, .out = shape.squeeze});
  const TensorId one = conv_relu(b, "expand1x1", s, {.in = shape.squeeze, .out = shape.expand});
  const TensorId three = conv_relu(b, "expand3x3", s, {.in = shape.squeeze, .out = shape.expand, .kernel = 3, .pad = 1});
  return b.node("Concat", {one, three}, {{"axis", std::int64_t{1}}});
}

core::Result<Blueprint> build(const Entry& entry, const Config& config, const ConvShape& stem, std::span<const Fire> fires) {
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = image_input(b, entry, config);
  std::int64_t channels = stem.out;
  {
    const Builder::Scope features(b, "features");
    x = max_pool(b, conv_relu(b, "0", x, stem), 3, 2, 0, true);
    int number = 3;
    for (const Fire& shape : fires) {
      const Builder::Scope scope(b, std::to_string(number++));
      x = shape.squeeze == 0 ? max_pool(b, x, 3, 2, 0, true) : fire(b, x, channels, shape);
      if (shape.squeeze != 0) channels = 2 * shape.expand;
    }
  }
  const TensorId scores = conv_relu(b, "classifier.1", x, {.in = channels, .out = classes});
  return finish_classifier(std::move(b), global_pool(b, scores), classes);
}

}  // namespace

core::Result<Blueprint> build_squeezenet10(const Entry& entry, const Config& config) {
  return build(entry, config, {.in = 3, .out = 96, .kernel = 7, .stride = 2, .input_energy = kLinear}, kVersion10);
}

core::Result<Blueprint> build_squeezenet11(const Entry& entry, const Config& config) {
  return build(entry, config, {.in = 3, .out = 64, .kernel = 3, .stride = 2, .input_energy = kLinear}, kVersion11);
}

}  // namespace aaco::runner::zoo
