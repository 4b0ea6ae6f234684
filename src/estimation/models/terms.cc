#include <algorithm>
#include <map>

#include "estimation/models.h"

namespace aaco::estimation {
namespace {

using graph::OperatorClass;

constexpr double kIssueS = 1e-6;

double peak_of(const DeviceFacts& device, const std::string& type) {
  const auto element = element_of(type);
  const auto found = element ? device.flops_per_s.find(*element) : device.flops_per_s.end();
  return found == device.flops_per_s.end() ? 0 : found->second;
}

enum class Sort { product, convolution, grouped, other };

Sort sort_of(graph::OperatorClass kind) {
  switch (kind) {
    case OperatorClass::gemm:
    case OperatorClass::attention:
    case OperatorClass::recurrent: return Sort::product;
    case OperatorClass::convolution: return Sort::convolution;
    case OperatorClass::depthwise: return Sort::grouped;
    default: return Sort::other;
  }
}

// Of weights: those of a small model stay in the largest cache whose speed is known and that holds them all.
double weight_rate(const hardware::Device& device, double weight_bytes, double memory_rate) {
  double rate = memory_rate;
  for (const hardware::MemoryLevel& level : device.memory_levels) {
    if (!level.bytes_per_s) continue;
    if (level.bytes.value * static_cast<double>(level.instances) >= weight_bytes) rate = std::max(rate, level.bytes_per_s->value);
  }
  return rate;
}

}  // namespace

double ModelTerms::roofline() const {
  const ModelTerms& self = *this;
  double sum = 0;
  for (std::size_t i = 0; i < kTerms; ++i)
    if (const auto term = static_cast<Term>(i); term != Term::issue && term != Term::update) sum += self[term];
  return sum;
}

ModelTerms terms_of(const GraphEstimate& graph, const graph::GraphCost& cost, const hardware::Device& device) {
  const DeviceFacts facts = facts_of(device);
  std::map<std::string_view, double> weights;  // by the node's name
  for (const graph::CostedNode& node : cost.nodes) weights[node.node->name] = node.cost.weight_bytes;
  const double weight_bytes_per_s = weight_rate(device, cost.weight_bytes, facts.memory_bytes_per_s);
  ModelTerms terms;
  for (const NodeEstimate& node : graph.nodes) {
    const Sort sort = sort_of(node.kind);
    const double peak = peak_of(facts, node.dtype);
    const double compute = sort == Sort::other || peak <= 0 ? 0 : node.work.flops / peak * node.repeats;
    const double memory = node.work.bytes / facts.memory_bytes_per_s * node.repeats;
    terms[Term::issue] += kIssueS * node.repeats;
    if (sort == Sort::other || sort == Sort::grouped) {
      terms[sort == Sort::other ? Term::moved : Term::grouped] += std::max(compute, memory);
      continue;
    }
    const Term computed = sort == Sort::product ? Term::product : Term::convolution;
    if (!facts.is_cpu) {
      terms[computed] += std::max(compute, memory);
      continue;
    }
    const auto known = weights.find(node.name);
    const double own = std::min(known == weights.end() ? 0 : known->second, node.work.bytes);
    const double reading = own / weight_bytes_per_s * node.repeats;
    terms[computed] += compute;
    terms[reading > compute ? Term::streamed : Term::weights] += reading;
    terms[Term::operands] += (node.work.bytes - own) / facts.memory_bytes_per_s * node.repeats;
  }
  return terms;
}

}  // namespace aaco::estimation
