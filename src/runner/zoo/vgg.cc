#include <array>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// Simonyan and Zisserman 2014, "Very Deep Convolutional Networks", configuration D, without batch normalisation.
namespace aaco::runner::zoo {
namespace {

constexpr std::int64_t kPool = 0;
constexpr std::array<std::int64_t, 18> kLayers = {64,    64,  kPool, 128, 128,   kPool, 256, 256, 256,
                                                  kPool, 512, 512,   512, kPool, 512,   512, 512, kPool};
constexpr std::int64_t kFeatures = 512 * 7 * 7;  // of an image of 224 x 224

}  // namespace

core::Result<Blueprint> build_vgg16(const Entry& entry, const Config& config) {
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = b.input("input", config.type, {"batch", 3, 224, 224});
  std::int64_t channels = 3;
  int member = 0;  // number in torchvision's sequence, where a ReLU has one too
  {
    const Builder::Scope features(b, "features");
    for (const std::int64_t out : kLayers) {
      if (out == kPool) {
        x = max_pool(b, x, 2, 2, 0);
        ++member;
        continue;
      }
      const double energy = channels == 3 ? kLinear : kAfterRelu;
      x = relu(b, conv(b, std::to_string(member), x,
                       {.in = channels, .out = out, .kernel = 3, .pad = 1, .bias = true, .input_energy = energy}));
      channels = out;
      member += 2;
    }
  }
  x = b.node("Flatten", {x}, {{"axis", std::int64_t{1}}});
  x = relu(b, linear(b, "classifier.0", x, kFeatures, 4096));
  x = relu(b, linear(b, "classifier.3", x, 4096, 4096));
  return finish_classifier(std::move(b), linear(b, "classifier.6", x, 4096, classes), classes);
}

}  // namespace aaco::runner::zoo
