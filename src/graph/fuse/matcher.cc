#include "graph/fuse/matcher.h"

#include <algorithm>

namespace aaco::graph {
namespace {

constexpr int kMaxBetween = 3;  // nodes in a row that are looked through

// What is bound so far. Small, so that trying is copying.
struct Bound {
  Match steps;
  std::map<std::string, TensorId> names;
  std::optional<Deviation> deviation;
};

class Matcher {
 public:
  // Without `slack` every step has to fit exactly.
  Matcher(const Graph& graph, const Links& links, const FusionPattern& pattern, const FusionSlack* slack)
      : graph_(graph), links_(links), pattern_(pattern), slack_(slack) {}

  std::optional<LooseMatch> run(std::size_t anchor) const {
    Bound bound;
    if (!fits_node(pattern_.steps.back(), anchor, bound)) return std::nullopt;
    return LooseMatch{bound.steps, bound.deviation};
  }

 private:
  const FusionStep* step(const std::string& id) const {
    const auto found =
        std::find_if(pattern_.steps.begin(), pattern_.steps.end(), [&](const FusionStep& item) { return item.id == id; });
    return found == pattern_.steps.end() ? nullptr : &*found;
  }

  bool fits_node(const FusionStep& wanted, std::size_t number, Bound& bound) const {
    if (const auto found = bound.steps.find(wanted.id); found != bound.steps.end()) return found->second == number;
    const Node& node = graph_.nodes[number];
    const std::string name = node.qualified_type();
    for (const auto& [id, other] : bound.steps)
      if (other == number) return false;
    if (!is_among(name, wanted.ops)) return slack_ != nullptr && is_among(name, wanted.near) && fits_near(wanted, number, bound);
    std::optional<Bound> deviating;
    for (const bool swapped : {false, true}) {
      if (swapped && (!commutes(node) || node.inputs.size() < 2 || wanted.operands.empty())) break;
      Bound trial = bound;
      trial.steps[wanted.id] = number;
      if (!fits_operands(wanted, number, swapped, trial)) continue;
      if (trial.deviation.has_value() == bound.deviation.has_value()) {
        bound = std::move(trial);
        return true;
      }
      if (!deviating) deviating = std::move(trial);
    }
    if (!deviating) return false;
    bound = std::move(*deviating);
    return true;
  }

  static bool is_among(const std::string& name, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  // Another operator at the place of a step, the one deviation: one of its operands is the step's first one, the others are free.
  bool fits_near(const FusionStep& wanted, std::size_t number, Bound& bound) const {
    if (bound.deviation) return false;
    const Node& node = graph_.nodes[number];
    for (const TensorId id : node.inputs) {
      if (!id.valid()) continue;
      Bound trial = bound;
      trial.steps[wanted.id] = number;
      trial.deviation = Deviation{"operator_not_covered", std::nullopt, number, std::nullopt, id, wanted.ops};
      if (!wanted.operands.empty() && !fits_exactly(wanted.operands[0], id, number, trial)) continue;
      trial.deviation->producer = producer_of(id);
      bound = std::move(trial);
      return true;
    }
    return false;
  }

  bool fits_operands(const FusionStep& wanted, std::size_t consumer, bool swapped, Bound& bound) const {
    const Node& node = graph_.nodes[consumer];
    for (std::size_t number = 0; number < wanted.operands.size(); ++number) {
      const std::size_t input = swapped && number < 2 ? 1 - number : number;
      if (input >= node.inputs.size() || !node.inputs[input].valid()) return false;
      if (!fits_tensor(wanted.operands[number], node.inputs[input], consumer, bound)) return false;
    }
    return true;
  }

  bool fits_tensor(const std::string& operand, TensorId tensor, std::size_t consumer, Bound& bound) const {
    if (fits_exactly(operand, tensor, consumer, bound)) return true;
    return slack_ != nullptr && fits_behind(operand, tensor, consumer, bound);
  }

  bool fits_exactly(const std::string& operand, TensorId tensor, std::size_t consumer, Bound& bound) const {
    if (operand == "*") return true;
    if (operand == "const") return links_.constant[index_of(tensor)];
    if (operand == "scalar") return links_.constant[index_of(tensor)] && is_scalar(graph_.tensor(tensor));
    if (operand.starts_with('$')) {
      const auto [found, is_new] = bound.names.try_emplace(operand, tensor);
      return is_new || found->second == tensor;
    }
    const FusionStep* wanted = step(operand);
    if (wanted == nullptr) return false;
    if (const auto producer = producer_of(tensor)) {
      Bound trial = bound;
      if (fits_node(*wanted, *producer, trial)) {
        bound = std::move(trial);
        return true;
      }
    }
    return wanted->optional && fits_tensor(wanted->operands[0], tensor, consumer, bound);
  }

  static bool is_scalar(const TensorDescriptor& tensor) { return tensor.shape && element_count(*tensor.shape) == 1; }

  // The operand as it is in front of transparent operators, or, as the one deviation, in front of others or not constant.
  bool fits_behind(const std::string& operand, TensorId tensor, std::size_t consumer, Bound& bound) const {
    if (operand == "const" || operand == "scalar")
      return (operand == "const" || is_scalar(graph_.tensor(tensor))) && !links_.constant[index_of(tensor)] &&
             deviates(bound, {"operand_not_constant", producer_of(tensor), consumer, std::nullopt, tensor, {}});
    std::optional<std::size_t> cause;
    TensorId behind = tensor;
    for (int passed = 0; passed < kMaxBetween; ++passed) {
      const auto producer = producer_of(behind);
      if (!producer) return false;
      const Node& node = graph_.nodes[*producer];
      const bool transparent = slack_->transparent.contains(node.qualified_type());
      if (node.inputs.empty() || !node.inputs[0].valid()) return false;
      if (!transparent && (bound.deviation || !slack_->between.contains(node.qualified_type()))) return false;
      if (!transparent && !cause) cause = producer;
      behind = node.inputs[0];
      Bound trial = bound;
      if (!fits_exactly(operand, behind, consumer, trial)) continue;
      if (trial.deviation && cause) return false;
      if (cause) trial.deviation = Deviation{"node_between", producer_of(behind), consumer, cause, tensor, {}};
      bound = std::move(trial);
      return true;
    }
    return false;
  }

  // Several operands of one node that are not constant are one deviation.
  static bool deviates(Bound& bound, Deviation deviation) {
    if (bound.deviation) return bound.deviation->reason == deviation.reason && bound.deviation->consumer == deviation.consumer;
    bound.deviation = std::move(deviation);
    return true;
  }

  [[nodiscard]] std::optional<std::size_t> producer_of(TensorId tensor) const {
    const std::int32_t producer = links_.producer[index_of(tensor)];
    return producer < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(producer));
  }

  const Graph& graph_;
  const Links& links_;
  const FusionPattern& pattern_;
  const FusionSlack* slack_;
};

}  // namespace

bool commutes(const Node& node) {
  const std::string& op = node.op_type;
  return op == "Add" || op == "Mul" || op == "Sum" || op == "add" || op == "mul" || op == "ADD" || op == "MUL";
}

namespace {

bool is_known_shape(const Graph& graph, const Node& node) {
  if ((node.op_type != "Shape" && node.op_type != "Size") || node.inputs.empty() || !node.inputs[0].valid()) return false;
  const auto& shape = graph.tensor(node.inputs[0]).shape;
  return shape && std::all_of(shape->begin(), shape->end(), [](const Dimension& dimension) { return dimension.fixed(); });
}

// ONNX: operators with another result in every run.
bool is_random(const Node& node) {
  static constexpr std::string_view kRandom[] = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                                 "RandomUniformLike", "Bernoulli",        "Multinomial"};
  return std::find(std::begin(kRandom), std::end(kRandom), node.op_type) != std::end(kRandom);
}

// Who reads a tensor of this name in a body, or in one of its own bodies; the body itself where it only hands it on.
std::string reader_in(const Graph& body, const std::string& name) {
  for (const Node& node : body.nodes)
    for (const TensorId id : node.inputs)
      if (id.valid() && body.tensor(id).name == name) return "'" + (node.name.empty() ? node.op_type : node.name) + "'";
  for (const Graph& inner : body.subgraphs)
    for (const TensorId id : inner.captured)
      if (inner.tensor(id).name == name) return reader_in(inner, name);
  return "an output";
}

}  // namespace

Links::Links(const Graph& graph, Shapes shapes)
    : producer(graph.tensors.size(), -1),
      readers(graph.tensors.size()),
      constant(graph.tensors.size(), false),
      kept(graph.tensors.size(), false),
      output(graph.tensors.size(), false) {
  for (const Initializer& initializer : graph.initializers) constant[index_of(initializer.tensor)] = true;
  for (const TensorId id : graph.overridable) constant[index_of(id)] = false;
  for (std::size_t number = 0; number < graph.nodes.size(); ++number) {
    const Node& node = graph.nodes[number];
    bool folded = node.op_type == "Constant" || (!node.inputs.empty() && !is_random(node));
    for (const TensorId id : node.inputs) {
      if (!id.valid()) continue;
      readers[index_of(id)].push_back(number);
      folded = folded && constant[index_of(id)];
    }
    folded = folded || (shapes == Shapes::known && is_known_shape(graph, node));
    for (const TensorId id : node.outputs) {
      if (!id.valid()) continue;
      producer[index_of(id)] = static_cast<std::int32_t>(number);
      constant[index_of(id)] = folded;
    }
  }
  for (const TensorId id : graph.outputs) kept[index_of(id)] = output[index_of(id)] = true;
  for (std::size_t number = 0; number < graph.nodes.size(); ++number)
    for (const Attribute& attribute : graph.nodes[number].attributes)
      if (const auto* bodies = std::get_if<std::vector<SubgraphId>>(&attribute.value))
        for (const SubgraphId body : *bodies)
          for (const TensorId id : graph.subgraph(body).captured) {
            const std::string& name = graph.subgraph(body).tensor(id).name;
            inside.try_emplace(name, Inside{number, reader_in(graph.subgraph(body), name) + " in " + attribute.name});
          }
  for (std::size_t tensor = 0; tensor < graph.tensors.size(); ++tensor)
    if (inside.contains(graph.tensors[tensor].name)) kept[tensor] = true;
}

std::optional<Leak> find_leak(const Graph& graph, const Links& links, const std::set<std::size_t>& nodes, std::size_t last) {
  for (const std::size_t number : nodes) {
    if (number == last) continue;
    for (const TensorId id : graph.nodes[number].outputs) {
      if (!id.valid()) continue;
      if (links.output[index_of(id)]) return Leak{number, std::nullopt, {}};
      for (const std::size_t reader : links.readers[index_of(id)])
        if (!nodes.contains(reader)) return Leak{number, reader, {}};
      if (const auto inside = links.inside.find(graph.tensor(id).name); inside != links.inside.end())
        return Leak{number, inside->second.owner, inside->second.reader};
    }
  }
  return std::nullopt;
}

std::optional<Match> match_pattern(const Graph& graph, const Links& links, const FusionPattern& pattern, std::size_t anchor) {
  auto found = Matcher(graph, links, pattern, nullptr).run(anchor);
  if (!found) return std::nullopt;
  return std::move(found->steps);
}

std::optional<LooseMatch> match_loosely(const Graph& graph, const Links& links, const FusionPattern& pattern, std::size_t anchor,
                                        const FusionSlack& slack) {
  if (auto exact = Matcher(graph, links, pattern, nullptr).run(anchor)) return exact;
  if (pattern.strict) return std::nullopt;
  return Matcher(graph, links, pattern, &slack).run(anchor);
}

}  // namespace aaco::graph
