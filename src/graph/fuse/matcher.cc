#include "graph/fuse/matcher.h"

#include <algorithm>
#include <unordered_set>

namespace aaco::graph {
namespace {

bool commutes(const std::string& op) {
  return op == "Add" || op == "Mul" || op == "add" || op == "mul" || op == "ADD" || op == "MUL";
}

// What is bound so far. Small, so that trying is copying.
struct Bound {
  Match steps;
  std::map<std::string, TensorId> names;
};

class Matcher {
 public:
  Matcher(const Graph& graph, const Links& links, const FusionPattern& pattern)
      : graph_(graph), links_(links), pattern_(pattern) {}

  std::optional<Match> run(std::size_t anchor) const {
    Bound bound;
    if (!fits_node(pattern_.steps.back(), anchor, bound)) return std::nullopt;
    return bound.steps;
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
    if (std::find(wanted.ops.begin(), wanted.ops.end(), name) == wanted.ops.end()) return false;
    for (const auto& [id, other] : bound.steps)
      if (other == number) return false;
    for (const bool swapped : {false, true}) {
      if (swapped && (!commutes(node.op_type) || node.inputs.size() < 2 || wanted.operands.empty())) break;
      Bound trial = bound;
      trial.steps[wanted.id] = number;
      if (fits_operands(wanted, node, swapped, trial)) {
        bound = std::move(trial);
        return true;
      }
    }
    return false;
  }

  bool fits_operands(const FusionStep& wanted, const Node& node, bool swapped, Bound& bound) const {
    for (std::size_t number = 0; number < wanted.operands.size(); ++number) {
      const std::size_t input = swapped && number < 2 ? 1 - number : number;
      if (input >= node.inputs.size() || !node.inputs[input].valid()) return false;
      if (!fits_tensor(wanted.operands[number], node.inputs[input], bound)) return false;
    }
    return true;
  }

  bool fits_tensor(const std::string& operand, TensorId tensor, Bound& bound) const {
    if (operand == "*") return true;
    if (operand == "const") return links_.constant[index_of(tensor)];
    if (operand.starts_with('$')) {
      const auto [found, is_new] = bound.names.try_emplace(operand, tensor);
      return is_new || found->second == tensor;
    }
    const FusionStep* wanted = step(operand);
    if (wanted == nullptr) return false;
    const std::int32_t producer = links_.producer[index_of(tensor)];
    if (producer >= 0) {
      Bound trial = bound;
      if (fits_node(*wanted, static_cast<std::size_t>(producer), trial)) {
        bound = std::move(trial);
        return true;
      }
    }
    return wanted->optional && fits_tensor(wanted->operands[0], tensor, bound);
  }

  const Graph& graph_;
  const Links& links_;
  const FusionPattern& pattern_;
};

}  // namespace

Links::Links(const Graph& graph)
    : producer(graph.tensors.size(), -1),
      readers(graph.tensors.size()),
      constant(graph.tensors.size(), false),
      kept(graph.tensors.size(), false) {
  for (const Initializer& initializer : graph.initializers) constant[index_of(initializer.tensor)] = true;
  for (std::size_t number = 0; number < graph.nodes.size(); ++number) {
    const Node& node = graph.nodes[number];
    bool folded = node.op_type == "Constant" || !node.inputs.empty();
    for (const TensorId id : node.inputs) {
      if (!id.valid()) continue;
      readers[index_of(id)].push_back(number);
      folded = folded && constant[index_of(id)];
    }
    for (const TensorId id : node.outputs) {
      if (!id.valid()) continue;
      producer[index_of(id)] = static_cast<std::int32_t>(number);
      constant[index_of(id)] = folded;
    }
  }
  for (const TensorId id : graph.outputs) kept[index_of(id)] = true;
  std::unordered_set<std::string_view> captured;
  for (const Graph& body : graph.subgraphs)
    for (const TensorId id : body.captured) captured.insert(body.tensor(id).name);
  for (std::size_t tensor = 0; tensor < graph.tensors.size(); ++tensor)
    if (captured.contains(graph.tensors[tensor].name)) kept[tensor] = true;
}

std::optional<Match> match_pattern(const Graph& graph, const Links& links, const FusionPattern& pattern, std::size_t anchor) {
  return Matcher(graph, links, pattern).run(anchor);
}

}  // namespace aaco::graph
