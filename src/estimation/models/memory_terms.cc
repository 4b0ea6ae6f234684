#include <algorithm>

#include "estimation/models.h"

namespace aaco::estimation {
namespace {

using graph::OperatorClass;

double& at(ModelTerms& terms, MemoryTerm term) { return terms.seconds[static_cast<std::size_t>(term)]; }

}  // namespace

ModelTerms memory_terms_of(const graph::GraphCost& cost, const MemoryEstimate& memory, std::size_t kernels) {
  constexpr double kNodeBytes = 1e3, kRuntimeBytes = 1e6;
  double products = 0, convolutions = 0;
  for (const graph::CostedNode& node : cost.nodes) {
    const bool convolution = node.cost.kind == OperatorClass::convolution || node.cost.kind == OperatorClass::depthwise;
    if (convolution) convolutions += node.cost.weight_bytes;
    if (node.cost.kind == OperatorClass::gemm) products += node.cost.weight_bytes;
  }
  // A weight that two nodes share is held once.
  convolutions = std::min(convolutions, cost.weight_bytes);
  products = std::min(products, cost.weight_bytes - convolutions);
  ModelTerms terms;
  at(terms, MemoryTerm::product_weights) = products;
  at(terms, MemoryTerm::convolution_weights) = convolutions;
  at(terms, MemoryTerm::other_weights) = cost.weight_bytes - convolutions - products;
  const auto cache = static_cast<double>(memory.kv_cache_bytes);
  at(terms, MemoryTerm::cache) = cache;
  at(terms, MemoryTerm::activations) = std::max(0.0, static_cast<double>(memory.activation_bytes) - cache);
  at(terms, MemoryTerm::nodes) = kNodeBytes * static_cast<double>(kernels);
  at(terms, MemoryTerm::runtime) = kRuntimeBytes;
  return terms;
}

std::array<double, kTerms> usual_memory_coefficients() {
  // ONNX Runtime packs weights of products beside those it loaded, keeps convolutions' in three layouts, and takes twice what is
  // live: the first call and the plan that it makes for later ones lie side by side.
  return {1.7, 3.5, 1, 0.7, 1, 1, 2, 1, 2, 7};
}

}  // namespace aaco::estimation
