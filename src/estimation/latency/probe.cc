#include "estimation/latency/probe.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.h"
#include "estimation/latency/features.h"

namespace aaco::estimation {
namespace {

// Figures without a common factor, so that none hides behind another.
DeviceFacts device() {
  DeviceFacts facts;
  facts.id = "probe";
  facts.vendor = "amd";
  facts.architecture = "cdna3";
  facts.compute_units = 77;
  facts.clock_hz = 1.3e9;
  facts.flops_per_s = {{"bf16", 0.9e15}, {"fp8", 1.7e15}, {"int8", 1.9e15}};
  facts.vector_flops_per_s = 0.7e14;
  facts.memory_bytes_per_s = 3.1e12;
  facts.cache_bytes = 1.1e7;
  facts.power_watts = 600;
  facts.link_bytes_per_s = 1.9e11;
  return facts;
}

std::vector<Kernel> kernels_of(std::string_view kind) {
  if (kind == "gemm") return {{GemmShape{3, 170, 1100, 5000}, "bf16"}, {GemmShape{1, 7, 4100, 12289}, "bf16"}};
  if (kind == "convolution")
    return {{ConvolutionShape{5, 48, 37, 29, 80, 3, 3, 1, 1, 1, 1, 1, 1, 1, false}, "bf16"},
            {ConvolutionShape{2, 96, 61, 53, 32, 7, 5, 2, 1, 2, 3, 1, 2, 4, true}, "bf16"}};
  if (kind == "attention")
    return {{AttentionShape{true, 3, 700, 130, 24, 6, 112, "bf16"}, "bf16"},
            {AttentionShape{true, 5, 900, 0, 12, 4, 80, "fp8", true, 300}, "bf16", "add"}};
  if (kind == "decode attention")
    return {{AttentionShape{false, 9, 1, 3100, 40, 8, 96, ""}, "bf16"},
            {AttentionShape{false, 700, 1, 900, 12, 4, 80, "fp8", true, 300}, "bf16", "add"}};
  if (kind == "latent attention")
    return {{LatentAttentionShape{true, 3, 24, 700, 830, "bf16"}, "bf16"},
            {LatentAttentionShape{true, 1, 96, 130, 130, "fp8"}, "bf16"}};
  if (kind == "decode latent attention")
    return {{LatentAttentionShape{false, 9, 24, 1, 3100, "bf16"}, "bf16"},
            {LatentAttentionShape{false, 300, 96, 1, 130, "fp8"}, "bf16", "add"}};
  if (kind == "experts")
    return {{ExpertsShape{70, 3000, 1100, 96, 6, true, 2, 3, 1.2}, "bf16"},
            {ExpertsShape{5000, 2100, 700, 48, 1, false}, "bf16", "add"}};
  if (kind == "collective")
    return {{CollectiveShape{"all_reduce", 6, 6, 7e5}, "bf16"}, {CollectiveShape{"all_to_all", 24, 6, 3e8}, "bf16", "add"}};
  if (kind == "vector") return {{VectorShape{"softmax", 900, 1030}, "bf16"}, {VectorShape{"add", 7, 5}, "bf16"}};
  return {{OtherShape{"x", 7e9, 3e6}, "bf16"}};
}

}  // namespace

std::vector<double> probe_of(std::string_view kind, std::string_view type) {
  const DeviceFacts on = device();
  const auto operands = operands_of(type);
  const bool own = operands && operands->bytes != operands->weight_bytes && on.flops_per_s.contains(operands->computed);
  std::vector<double> result;
  for (Kernel kernel : kernels_of(kind)) {
    if (own) kernel.type = type;
    const auto roof = roofline(kernel, on);
    AACO_CHECK(roof.has_value());
    const std::vector<float> row = features_of(kernel, on, *roof, {"add", "softmax"});
    result.insert(result.end(), row.begin(), row.end());
    result.push_back(std::log2(roof->seconds() + nominal_floor_s(on)));
  }
  return result;
}

std::vector<double> energy_probe() {
  const DeviceFacts on = device();
  std::vector<double> result;
  for (const char* kind : {"gemm", "convolution"})
    for (const Kernel& kernel : kernels_of(kind)) {
      const auto roof = roofline(kernel, on);
      AACO_CHECK(roof.has_value());
      const std::vector<float> row = energy_features_of(kernel, *roof, 1.7e-3);
      result.insert(result.end(), row.begin(), row.end());
    }
  return result;
}

bool same_probe(const std::vector<double>& one, const std::vector<double>& other) {
  constexpr double kLastDigits = 1e-5;
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= kLastDigits * std::max(1.0, std::abs(a));
  });
}

}  // namespace aaco::estimation
