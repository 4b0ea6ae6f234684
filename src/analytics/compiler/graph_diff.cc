#include <algorithm>
#include <map>
#include <set>

#include "analytics/compiler/no_operation.h"
#include "analytics/compiler_diff.h"
#include "graph/cost.h"

namespace aaco::analytics::compiler {
namespace {

using graph::Graph;
using graph::index_of;
using graph::Node;
using graph::TensorId;

constexpr std::string_view kLayoutSuffix = "_nchwc";  // ONNX Runtime: OUTPUT_nchwc

// Operators that hand their input on, in another type, layout or place.
bool moves(const Node& node) {
  static constexpr std::string_view kMoves[] = {"ReorderInput",     "ReorderOutput", "Cast",           "Transpose", "Identity",
                                                "MemcpyFromHost",   "MemcpyToHost",  "QuantizeLinear", "Squeeze",   "Unsqueeze",
                                                "DequantizeLinear", "Reshape"};
  return std::find(std::begin(kMoves), std::end(kMoves), node.op_type) != std::end(kMoves) && !node.inputs.empty() &&
         node.inputs[0].valid() && !node.outputs.empty() && node.outputs[0].valid();
}

std::string insertion_kind(const Node& node) {
  if (node.op_type == "Cast") return "cast";
  if (node.op_type.starts_with("Reorder") || node.op_type == "Transpose" || node.op_type == "Reshape") return "layout";
  if (node.op_type.starts_with("Memcpy") || node.op_type == "Identity") return "copy";
  if (node.op_type.ends_with("QuantizeLinear") || node.op_type.ends_with("DequantizeLinear")) return "quantise";
  return "other";
}

// ONNX Runtime: "X_token_3" is a node X that was made again, in another layout.
std::string_view without_token(std::string_view name) {
  constexpr std::string_view kToken = "_token_";
  const auto at = name.rfind(kToken);
  if (at == std::string_view::npos) return name;
  const std::string_view digits = name.substr(at + kToken.size());
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos ? name.substr(0, at) : name;
}

// Of a tensor that ONNX Runtime computes in another type than the model has.
constexpr std::string_view kOtherType = "InsertedPrecisionFreeCast_";
std::string_view without_type(std::string_view name) {
  return name.starts_with(kOtherType) ? name.substr(kOtherType.size()) : name;
}

class Comparison {
 public:
  Comparison(const Graph& before, const Graph& after)
      : before_(before),
        after_(after),
        producer_(before.tensors.size()),
        value_(after.tensors.size()),
        live_(before.tensors.size(), false) {
    out_.nodes.resize(before.nodes.size());
    out_.kernels.resize(after.nodes.size());
    for (std::size_t number = 0; number < before.nodes.size(); ++number)
      for (const TensorId id : before.nodes[number].outputs)
        if (id.valid()) producer_[index_of(id)] = number;
  }

  GraphDiff run() {
    map_values();
    mark_live();
    fold();
    for (std::size_t kernel = 0; kernel < after_.nodes.size(); ++kernel) cover(kernel);
    settle();
    return std::move(out_);
  }

 private:
  std::optional<std::size_t>& value(TensorId id) { return value_[index_of(id)]; }

  // Which tensor of the graph before each one of the graph after is.
  void map_values() {
    std::map<std::string_view, std::size_t> by_name, by_node;
    for (std::size_t tensor = 0; tensor < before_.tensors.size(); ++tensor) by_name[before_.tensors[tensor].name] = tensor;
    for (std::size_t tensor = 0; tensor < after_.tensors.size(); ++tensor)
      if (const auto found = by_name.find(without_type(after_.tensors[tensor].name)); found != by_name.end())
        value_[tensor] = found->second;
    for (const Node& node : after_.nodes) {
      const auto at = node.name.rfind(kLayoutSuffix);
      if (at == std::string::npos || node.outputs.empty() || !node.outputs[0].valid() || value(node.outputs[0])) continue;
      if (const auto found = by_name.find(without_type(std::string_view(node.name).substr(0, at))); found != by_name.end())
        value(node.outputs[0]) = found->second;
    }
    // A node that kept its name and operator makes what it made, under another name; in its integer form, what it made quantised.
    for (const Node& node : before_.nodes)
      if (!node.name.empty() && !node.outputs.empty() && node.outputs[0].valid()) by_node[node.name] = index_of(node.outputs[0]);
    for (const Node& node : after_.nodes) {
      if (node.outputs.empty() || !node.outputs[0].valid() || value(node.outputs[0])) continue;
      const auto found = by_node.find(without_token(node.name));
      if (found == by_node.end()) continue;
      const std::string& was = before_.nodes[*producer_[found->second]].op_type;
      if (was == node.op_type)
        value(node.outputs[0]) = found->second;
      else if (node.op_type == "QLinear" + was)
        value(node.outputs[0]) = only_reader(found->second, "QuantizeLinear");
    }
    for (const Node& node : after_.nodes) advance_over_sum(node);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Node& node : after_.nodes) {
        if (!moves(node)) continue;
        auto &in = value(node.inputs[0]), &out = value(node.outputs[0]);
        if (in.has_value() == out.has_value()) continue;
        (in ? out : in) = in ? *in : *out;
        changed = true;
      }
    }
  }

  // ONNX Runtime: a convolution with a fourth operand adds it, and applies its `activation`, but keeps the name of its own
  // result.
  void advance_over_sum(const Node& node) {
    const bool sums = node.op_type.ends_with("Conv") && node.inputs.size() > 3 && node.inputs[3].valid();
    if (!sums || node.outputs.empty() || !node.outputs[0].valid() || !value(node.outputs[0])) return;
    std::size_t& tensor = *value(node.outputs[0]);
    const auto& maker = producer_[tensor];
    if (!maker || (before_.nodes[*maker].op_type != "Conv" && before_.nodes[*maker].op_type != "BatchNormalization")) return;
    const auto sum = only_reader(tensor, "Add");
    if (!sum) return;
    tensor = *sum;
    for (const graph::Attribute& one : node.attributes)
      if (const auto* activation = std::get_if<std::string>(&one.value); activation != nullptr && one.name == "activation")
        tensor = only_reader(tensor, *activation).value_or(tensor);
  }

  // The result of the one node that reads the tensor, if it has this operator.
  [[nodiscard]] std::optional<std::size_t> only_reader(std::size_t tensor, const std::string& op_type) const {
    const Node* reader = nullptr;
    for (const Node& node : before_.nodes)
      for (const TensorId id : node.inputs)
        if (id.valid() && index_of(id) == tensor) {
          if (reader != nullptr) return std::nullopt;
          reader = &node;
        }
    if (reader == nullptr || reader->op_type != op_type || reader->outputs.empty() || !reader->outputs[0].valid())
      return std::nullopt;
    return index_of(reader->outputs[0]);
  }

  [[nodiscard]] bool inserted(const Node& node) {
    if (!moves(node)) return false;
    const auto &in = value(node.inputs[0]), &out = value(node.outputs[0]);
    return in && out && *in == *out;
  }

  // Tensors of the graph before that still exist; the walk back from a kernel's results ends there.
  void mark_live() {
    // A tensor that the file declares and that nothing makes does not count.
    for (const Node& node : after_.nodes)
      for (const TensorId id : node.outputs)
        if (id.valid() && value(id)) live_[*value(id)] = true;
    for (const graph::Initializer& one : after_.initializers)
      if (value(one.tensor)) live_[*value(one.tensor)] = true;
    for (const auto* list : {&before_.inputs, &before_.captured})
      for (const TensorId id : *list) live_[index_of(id)] = true;
    for (const graph::Initializer& one : before_.initializers) live_[index_of(one.tensor)] = true;
  }

  // What becomes a weight, and all that is computed from weights alone.
  void fold() {
    std::vector<bool> constant(before_.tensors.size(), false);
    for (const graph::Initializer& one : before_.initializers) constant[index_of(one.tensor)] = true;
    for (std::size_t number = 0; number < before_.nodes.size(); ++number) {
      const Node& node = before_.nodes[number];
      const bool folded = node.op_type == "Constant" ||
                          (!node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
                            return !id.valid() || constant[index_of(id)];
                          }));
      for (const TensorId id : node.outputs)
        if (id.valid()) constant[index_of(id)] = folded;
      if (folded) folded_.insert(number);
    }
    for (const graph::Initializer& one : after_.initializers)
      if (const auto& tensor = value(one.tensor); tensor && producer_[*tensor]) folded_.insert(*producer_[*tensor]);
    // A node that is still there was not folded.
    for (const Node& node : after_.nodes)
      for (const TensorId id : node.outputs)
        if (id.valid() && value(id) && producer_[*value(id)]) folded_.erase(*producer_[*value(id)]);
  }

  // The nodes of the graph before that the kernel computes.
  void cover(std::size_t kernel) {
    const Node& node = after_.nodes[kernel];
    Kernel& made = out_.kernels[kernel];
    if (inserted(node)) {
      made.inserted = insertion_kind(node);
      return;
    }
    std::set<std::size_t> nodes;
    std::vector<std::size_t> open;
    for (const TensorId id : node.outputs)
      if (id.valid() && value(id)) open.push_back(*value(id));
    while (!open.empty()) {
      const std::size_t tensor = open.back();
      open.pop_back();
      if (!producer_[tensor] || nodes.contains(*producer_[tensor])) continue;
      const std::size_t number = *producer_[tensor];
      if (folded_.contains(number)) continue;
      nodes.insert(number);
      for (const TensorId id : before_.nodes[number].inputs)
        if (id.valid() && !live_[index_of(id)]) open.push_back(index_of(id));
    }
    if (nodes.empty()) {
      made.inserted = insertion_kind(node);
      return;
    }
    made.nodes.assign(nodes.begin(), nodes.end());
    for (const TensorId id : node.outputs) {
      if (!id.valid() || !value(id)) continue;
      const auto was = before_.tensors[*value(id)].type, is = after_.tensor(id).type;
      if (was != graph::ElementType::unknown && is != graph::ElementType::unknown && was != is)
        made.precision = std::string(graph::to_string(was)) + " -> " + std::string(graph::to_string(is));
    }
  }

  static bool cancels(const Node& node) {
    return moves(node) && (node.op_type == "Transpose" || node.op_type == "Cast" || node.op_type == "Reshape" ||
                           node.op_type == "Squeeze" || node.op_type == "Unsqueeze");
  }
  // Whether the kernel is one of these nodes, another than `number`, with its attributes.
  [[nodiscard]] bool is_as_before(const Node& after, const std::vector<std::size_t>& nodes, std::size_t number) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](std::size_t one) {
      const Node& node = before_.nodes[one];
      return one != number && node.op_type == after.op_type && node.domain == after.domain &&
             node.attributes == after.attributes && node.inputs.size() == after.inputs.size();
    });
  }

  // A node with the same operator and inputs whose result is still there.
  [[nodiscard]] std::optional<std::size_t> twin_of(std::size_t number) const {
    const Node& node = before_.nodes[number];
    for (std::size_t other = 0; other < before_.nodes.size(); ++other) {
      const Node& one = before_.nodes[other];
      if (other == number || one.op_type != node.op_type || one.domain != node.domain || one.inputs != node.inputs) continue;
      if (one.attributes != node.attributes || one.outputs.empty() || !one.outputs[0].valid()) continue;
      if (live_[index_of(one.outputs[0])]) return other;
    }
    return std::nullopt;
  }

  void settle() {
    for (const std::size_t number : folded_) out_.nodes[number] = {Fate::folded, std::nullopt};
    for (std::size_t kernel = 0; kernel < out_.kernels.size(); ++kernel) {
      Kernel& made = out_.kernels[kernel];
      const Node& after = after_.nodes[kernel];
      std::vector<std::size_t> computed;
      for (const std::size_t number : made.nodes) {
        NodeFate& fate = out_.nodes[number];
        if (fate.kernel) continue;  // an earlier kernel computes it
        fate.kernel = kernel;
        if (made.nodes.size() > 1) {
          const Node& node = before_.nodes[number];
          const bool result_lives = !node.outputs.empty() && node.outputs[0].valid() && live_[index_of(node.outputs[0])];
          if (is_no_operation(before_, node)) {
            fate = {Fate::removed, std::nullopt};
            continue;
          }
          if (!result_lives && class_of(node) == graph::OperatorClass::host) {
            fate = {Fate::folded, std::nullopt};
            continue;
          }
          // What only moved the values of an operator that is as it was: two that cancel, or one that was no change.
          if (cancels(node) && is_as_before(after, made.nodes, number)) {
            fate = {Fate::removed, std::nullopt};
            continue;
          }
          if (!result_lives && twin_of(number)) {
            fate = {Fate::removed, std::nullopt};
            continue;
          }
        }
        computed.push_back(number);
      }
      made.nodes = computed;
      for (const std::size_t number : computed) {
        const Node& node = before_.nodes[number];
        const bool same = node.op_type == after.op_type && node.domain == after.domain;
        out_.nodes[number].fate = computed.size() > 1 ? Fate::fused : same ? Fate::kept : Fate::rewritten;
      }
    }
  }

  const Graph& before_;
  const Graph& after_;
  std::vector<std::optional<std::size_t>> producer_;  // by tensor of the graph before
  std::vector<std::optional<std::size_t>> value_;     // by tensor of the graph after
  std::vector<bool> live_;
  std::set<std::size_t> folded_;
  GraphDiff out_;
};

}  // namespace

std::string_view to_string(Fate fate) {
  switch (fate) {
    case Fate::kept: return "kept";
    case Fate::rewritten: return "rewritten";
    case Fate::fused: return "fused";
    case Fate::folded: return "folded";
    case Fate::removed: return "removed";
  }
  return "";
}

std::string node_name(const Graph& graph, std::size_t node) {
  const Node& one = graph.nodes[node];
  return one.name.empty() ? one.qualified_type() + " " + std::to_string(node) : one.name;
}

GraphDiff compare_graphs(const Graph& before, const Graph& after) { return Comparison(before, after).run(); }

}  // namespace aaco::analytics::compiler
