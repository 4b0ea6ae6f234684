#include <span>
#include <vector>

#include "runner/zoo/families.h"
#include "runner/zoo/layers.h"

// Simonyan and Zisserman 2014, "Very Deep Convolutional Networks", configurations A, B, D and E, without batch normalisation.
namespace aaco::runner::zoo {
namespace {

constexpr std::int64_t kPool = 0;
constexpr std::int64_t kFeatures = 512 * 7 * 7;  // of an image of 224 x 224

constexpr std::int64_t kWidths[] = {64, 128, 256, 512, 512};

// `convolutions`: of each of the five stages, which end in a pool.
core::Result<Blueprint> build(const Entry& entry, const Config& config, std::span<const int, 5> convolutions) {
  std::vector<std::int64_t> layers;
  for (std::size_t stage = 0; stage < convolutions.size(); ++stage) {
    layers.insert(layers.end(), static_cast<std::size_t>(convolutions[stage]), kWidths[stage]);
    layers.push_back(kPool);
  }
  const std::int64_t classes = entry.value(config, "classes");
  Builder b(entry.name, config.type);
  TensorId x = b.input("input", config.type, {"batch", 3, 224, 224});
  std::int64_t channels = 3;
  int member = 0;  // number in torchvision's sequence, where a ReLU has one too
  {
    const Builder::Scope features(b, "features");
    for (const std::int64_t out : layers) {
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

}  // namespace

core::Result<Blueprint> build_vgg11(const Entry& entry, const Config& config) {
  constexpr int kConvolutions[] = {1, 1, 2, 2, 2};
  return build(entry, config, kConvolutions);
}

core::Result<Blueprint> build_vgg13(const Entry& entry, const Config& config) {
  constexpr int kConvolutions[] = {2, 2, 2, 2, 2};
  return build(entry, config, kConvolutions);
}

core::Result<Blueprint> build_vgg16(const Entry& entry, const Config& config) {
  constexpr int kConvolutions[] = {2, 2, 3, 3, 3};
  return build(entry, config, kConvolutions);
}

core::Result<Blueprint> build_vgg19(const Entry& entry, const Config& config) {
  constexpr int kConvolutions[] = {2, 2, 4, 4, 4};
  return build(entry, config, kConvolutions);
}

}  // namespace aaco::runner::zoo
