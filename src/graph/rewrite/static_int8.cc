#include "graph/rewrite/static_int8.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/rewrite/static_plan.h"
#include "graph/rewrite/value_bytes.h"

namespace aaco::graph::rewrite {
namespace {

constexpr float kMaxWeight = 127;        // of int8, symmetric
constexpr float kActivationSteps = 255;  // of uint8

struct Quantization {
  float scale = 1;
  std::uint8_t zero = 0;
};

// The range with zero in it, as padding and activation functions need it exactly.
Quantization quantization_of(const ValueRange& range) {
  const float lowest = std::min(range.lowest, 0.0F), highest = std::max(range.highest, 0.0F);
  if (!(highest > lowest)) return {};
  const float scale = (highest - lowest) / kActivationSteps;
  return {scale, static_cast<std::uint8_t>(std::lround(std::clamp(-lowest / scale, 0.0F, kActivationSteps)))};
}

struct WeightScales {
  std::vector<std::int8_t> values;
  std::vector<float> scales;  // by channel
};

// `stride` values of a channel follow each other, `channels` times over.
WeightScales quantize_channels(const std::vector<float>& weights, std::size_t channels, std::size_t stride) {
  WeightScales out{std::vector<std::int8_t>(weights.size()), std::vector<float>(channels, 0)};
  const auto channel_of = [&](std::size_t i) { return i / stride % channels; };
  for (std::size_t i = 0; i < weights.size(); ++i)
    out.scales[channel_of(i)] = std::max(out.scales[channel_of(i)], std::abs(weights[i]) / kMaxWeight);
  for (float& scale : out.scales)
    if (scale < std::numeric_limits<float>::min()) scale = 1;
  for (std::size_t i = 0; i < weights.size(); ++i)
    out.values[i] =
        static_cast<std::int8_t>(std::lround(std::clamp(weights[i] / out.scales[channel_of(i)], -kMaxWeight, kMaxWeight)));
  return out;
}

class StaticQuantizer {
 public:
  StaticQuantizer(Edit& edit, const TensorLinks& links, StaticPlan plan, const ActivationRanges& ranges)
      : edit_(edit), links_(links), plan_(std::move(plan)), ranges_(ranges) {}

  core::Result<std::int64_t> convert() {
    choose();
    std::int64_t count = 0;
    for (const StaticPlan::Site& site : plan_.sites) {
      if (!known_.contains(edit_.graph().nodes[site.node].inputs[0])) continue;
      AACO_TRY(convert_weights(site));
      ++count;
    }
    for (const auto& [activation, before] : plan_.implied) take_over(activation, before);
    for (const auto& [tensor, quantization] : known_) wrap(tensor, quantization);
    for (auto& [at, nodes] : nodes_) edit_.replace(at, std::move(nodes));
    edit_.finish();
    return count;
  }

 private:
  // Keeps what has a range; an implied activation function stays where the range does not start at 0.
  void choose() {
    for (const TensorId tensor : plan_.tensors) {
      const auto moved = plan_.same_range.find(tensor);
      const auto found = ranges_.find(edit_.graph().tensor(moved == plan_.same_range.end() ? tensor : moved->second).name);
      if (found != ranges_.end() && std::isfinite(found->second.lowest) && std::isfinite(found->second.highest))
        known_[tensor] = quantization_of(found->second);
    }
    std::erase_if(plan_.implied, [&](const auto& one) {
      const auto found = known_.find(edit_.graph().nodes[one.first].outputs[0]);
      return found == known_.end() || found->second.zero != 0;
    });
  }

  // What stands where node `at` is, to be changed.
  std::vector<Node>& place(std::size_t at) {
    const auto found = nodes_.find(at);
    return found != nodes_.end() ? found->second : nodes_[at] = {edit_.graph().nodes[at]};
  }
  Node& changed(std::size_t at) {
    return *std::find_if(place(at).begin(), place(at).end(), [&](const Node& node) {
      return node.name == edit_.graph().nodes[at].name && node.op_type == edit_.graph().nodes[at].op_type;
    });
  }

  core::Status convert_weights(const StaticPlan::Site& site) {
    const Node node = edit_.graph().nodes[site.node];
    const TensorDescriptor weight = edit_.graph().tensor(node.inputs[1]);
    AACO_ASSIGN(const std::vector<float> weights, read_floats(edit_, node.inputs[1]));
    std::vector<std::int64_t> dims;
    std::size_t stride = 1;
    for (std::size_t i = 0; i < weight.shape->size(); ++i) {
      dims.push_back((*weight.shape)[i].size);
      if (i > site.axis) stride *= static_cast<std::size_t>(dims.back());
    }
    const std::int64_t channels = dims[site.axis];
    if (weights.empty()) return {};
    const WeightScales made = quantize_channels(weights, static_cast<std::size_t>(channels), stride);
    std::vector<Node> nodes;
    const std::string name = edit_.graph().tensor(node.outputs[0]).name + "/weight";
    const TensorId real = dequantized(name, edit_.add_constant(name + "/int8", ElementType::int8, dims, dense_bytes(made.values)),
                                      made.scales, ElementType::int8, site.axis, nodes);
    Node now = node;
    now.inputs[1] = real;
    if (node.inputs.size() > 2 && node.inputs[2].valid()) {
      AACO_ASSIGN(now.inputs[2], bias(node, made.scales, nodes));
    }
    nodes.push_back(std::move(now));
    nodes_[site.node] = std::move(nodes);
    return {};
  }

  core::Result<TensorId> bias(const Node& node, const std::vector<float>& weight_scales, std::vector<Node>& nodes) {
    AACO_ASSIGN(const std::vector<float> values, read_floats(edit_, node.inputs[2]));
    if (values.size() != weight_scales.size()) return node.inputs[2];  // a Gemm's that is broadcast otherwise
    const float input_scale = known_.at(node.inputs[0]).scale;
    std::vector<float> scales(values.size());
    std::vector<std::int32_t> steps(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      scales[i] = input_scale * weight_scales[i];
      const double step = std::clamp(static_cast<double>(values[i]) / scales[i], -2147483000.0, 2147483000.0);
      steps[i] = static_cast<std::int32_t>(std::llround(step));
    }
    const std::string name = edit_.graph().tensor(node.outputs[0]).name + "/bias";
    const TensorId stored =
        edit_.add_constant(name + "/int32", ElementType::int32, {static_cast<std::int64_t>(steps.size())}, dense_bytes(steps));
    return dequantized(name, stored, scales, ElementType::int32, 0, nodes);
  }

  TensorId dequantized(const std::string& name, TensorId stored, const std::vector<float>& scales, ElementType type,
                       std::size_t axis, std::vector<Node>& nodes) {
    const auto channels = static_cast<std::int64_t>(scales.size());
    const TensorId scale = edit_.add_constant(name + "/scale", ElementType::float32, {channels}, dense_bytes(scales));
    const std::size_t bytes = type == ElementType::int32 ? sizeof(std::int32_t) : 1;
    const TensorId zero = edit_.add_constant(name + "/zero", type, {channels}, std::vector<std::byte>(scales.size() * bytes));
    const TensorId real = edit_.add_tensor(name, ElementType::float32);
    nodes.push_back({name, "DequantizeLinear", "", {stored, scale, zero}, {real}, {{"axis", static_cast<std::int64_t>(axis)}}});
    return real;
  }

  // The node before makes the activation function's result itself: the range cuts off what is below 0.
  void take_over(std::size_t activation, std::size_t before) {
    changed(before).outputs[0] = edit_.graph().nodes[activation].outputs[0];
    nodes_[activation] = {};
    makers_[edit_.graph().nodes[activation].outputs[0]] = before;
  }

  // tensor -> QuantizeLinear -> DequantizeLinear -> everything that read it.
  void wrap(TensorId id, const Quantization& quantization) {
    const std::string name = edit_.graph().tensor(id).name;
    const TensorId scale =
        edit_.add_constant(name + "/q/scale", ElementType::float32, {}, dense_bytes(std::vector{quantization.scale}));
    const TensorId zero =
        edit_.add_constant(name + "/q/zero", ElementType::uint8, {}, dense_bytes(std::vector{quantization.zero}));
    const TensorId steps = edit_.add_tensor(name + "/q", ElementType::uint8);
    const auto maker = maker_of(id);
    // A made tensor keeps its name for its readers; an input of the graph is read by its new name.
    const TensorId raw = maker ? edit_.add_tensor(name + "/raw", ElementType::float32) : id;
    const TensorId real = maker ? id : edit_.add_tensor(name + "/dq", ElementType::float32);
    std::vector<Node> pair{{name + "/q", "QuantizeLinear", "", {raw, scale, zero}, {steps}, {}},
                           {name + "/dq", "DequantizeLinear", "", {steps, scale, zero}, {real}, {}}};
    if (maker) {
      for (TensorId& out : changed(*maker).outputs)
        if (out == id) out = raw;
      std::vector<Node>& nodes = place(*maker);
      nodes.insert(nodes.end(), pair.begin(), pair.end());
      return;
    }
    for (const std::size_t reader : links_.readers(id))
      for (Node& node : place(reader)) std::replace(node.inputs.begin(), node.inputs.end(), id, real);
    if (links_.readers(id).empty()) return;
    std::vector<Node>& first = place(links_.readers(id).front());
    first.insert(first.begin(), pair.begin(), pair.end());
  }
  [[nodiscard]] std::optional<std::size_t> maker_of(TensorId id) const {
    const auto found = makers_.find(id);
    return found != makers_.end() ? std::optional(found->second) : links_.producer(id);
  }

  Edit& edit_;
  const TensorLinks& links_;
  StaticPlan plan_;
  const ActivationRanges& ranges_;
  std::map<TensorId, Quantization> known_;
  std::map<std::size_t, std::vector<Node>> nodes_;  // what stands in the place of a node
  std::map<TensorId, std::size_t> makers_;          // of tensors that another node makes now
};

bool opset_allows(const Graph& graph) {
  const auto found = graph.opsets.find("");
  return found != graph.opsets.end() && found->second >= kStaticMinOpset;
}

}  // namespace

std::int64_t count_static_sites(const Graph& graph) {
  if (!opset_allows(graph)) return 0;
  Graph unchanged = graph;
  const Edit edit(unchanged);
  return static_cast<std::int64_t>(plan_static(edit, TensorLinks(unchanged)).sites.size());
}

std::vector<std::string> ranged_tensors(const Graph& graph) {
  Graph folded = graph;
  if (!opset_allows(graph) || !fold_batch_norms(folded)) return {};
  const Edit edit(folded);
  const StaticPlan plan = plan_static(edit, TensorLinks(folded));
  std::vector<std::string> names;
  for (const TensorId tensor : plan.tensors)
    if (!plan.same_range.contains(tensor)) names.push_back(folded.tensor(tensor).name);
  return names;
}

core::Result<std::int64_t> quantize_statically(Graph& graph, const ActivationRanges& ranges) {
  if (ranges.empty())
    return core::fail(core::ErrorCode::invalid_argument, "int8_static requires the ranges of the model's activations",
                      "measure them on sample inputs first, as `aaco optimize` does");
  AACO_TRY(fold_batch_norms(graph));
  Edit edit(graph);
  const TensorLinks links(graph);
  return StaticQuantizer(edit, links, plan_static(edit, links), ranges).convert();
}

}  // namespace aaco::graph::rewrite
