#include "estimation/analysis/on_chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace aaco::estimation {
namespace {

constexpr double kBitsPerByte = 8;

// How many bytes in memory one byte of a node's tensors is in the type that is asked for.
double narrowing(const graph::NodeCost& cost, const std::string& dtype) {
  const double as_is = cost.bytes_read + cost.bytes_written;
  return as_is > 0 ? work_under(cost, dtype).bytes / as_is : 1;
}

double bytes_of(const graph::TensorDescriptor& tensor, const std::string& dtype) {
  const auto count = tensor.shape ? graph::element_count(*tensor.shape) : std::nullopt;
  if (!count) return 0;
  const auto asked = dtype.empty() || !graph::is_floating(tensor.type) ? std::nullopt : element_bytes(dtype);
  return static_cast<double>(*count) * asked.value_or(graph::element_bits(tensor.type) / kBitsPerByte);
}

// Of the graph's inputs that the nodes of `only` read and the outputs that they write, each once.
double bytes_at_the_ends(const graph::Graph& graph, const Conditions& conditions) {
  const std::set<graph::TensorId> inputs(graph.inputs.begin(), graph.inputs.end());
  const std::set<graph::TensorId> outputs(graph.outputs.begin(), graph.outputs.end());
  std::set<graph::TensorId> crossing;
  for (std::size_t place = 0; place < graph.nodes.size(); ++place) {
    if (conditions.only != nullptr && !(*conditions.only)[place]) continue;
    for (const graph::TensorId id : graph.nodes[place].inputs)
      if (id.valid() && inputs.contains(id)) crossing.insert(id);
    for (const graph::TensorId id : graph.nodes[place].outputs)
      if (id.valid() && outputs.contains(id)) crossing.insert(id);
  }
  double bytes = 0;
  for (const graph::TensorId id : crossing) bytes += bytes_of(graph.tensor(id), conditions.dtype);
  return bytes;
}

}  // namespace

std::optional<OnChip> OnChip::of(const graph::Graph& graph, const graph::GraphCost& cost, const hardware::Device& device,
                                 const Conditions& conditions) {
  constexpr double kMebi = 1024.0 * 1024.0;
  if (device.memory.kind != "none") return std::nullopt;
  OnChip result;
  result.dtype_ = conditions.dtype;
  result.ends_bytes_ = bytes_at_the_ends(graph, conditions);
  const hardware::MemoryLevel* last = device.last_level();
  if (last == nullptr) {
    result.note_ = "the size of its on-chip memory is not published: weights and activations are assumed to fit";
    return result;
  }
  result.capacity_ = last->bytes.value * static_cast<double>(last->instances);
  double weights = 0, largest = 0;
  for (const graph::CostedNode& costed : cost.nodes) {
    if (costed.repeats <= 0) continue;
    if (costed.graph == &graph && conditions.only != nullptr &&
        !(*conditions.only)[static_cast<std::size_t>(costed.node - graph.nodes.data())])
      continue;
    const double narrower = narrowing(costed.cost, conditions.dtype);
    weights += costed.cost.weight_bytes * narrower;
    const double activations = (costed.cost.bytes_read - costed.cost.weight_bytes + costed.cost.bytes_written) * narrower;
    if (activations <= *result.capacity_) largest = std::max(largest, activations);
  }
  const double room = std::max(0.0, *result.capacity_ - largest);
  if (weights > room) result.streamed_ratio_ = 1 - room / weights;
  result.note_ = fmt::format(
      "{:.3g} of {:.3g} MiB of weights fit into its {:.3g} MiB of on-chip memory; the remainder is transferred over the link in "
      "every run",
      std::min(weights, room) / kMebi, weights / kMebi, *result.capacity_ / kMebi);
  return result;
}

double OnChip::link_bytes(const graph::CostedNode& costed, const Work& whole) const {
  const double weights = costed.cost.weight_bytes * narrowing(costed.cost, dtype_);
  const double activations = std::max(0.0, whole.bytes - weights);
  return weights * streamed_ratio_ + (capacity_ && activations > *capacity_ ? activations : 0);
}

}  // namespace aaco::estimation
