#include <algorithm>
#include <map>
#include <set>

#include "analytics/compiler/no_operation.h"
#include "analytics/compiler/tensor_match.h"
#include "analytics/compiler_diff.h"
#include "graph/cost.h"

namespace aaco::analytics::compiler {
namespace {

using graph::Graph;
using graph::index_of;
using graph::Node;
using graph::TensorId;

constexpr std::string_view kOther = "other";

std::string insertion_kind(const Node& node) {
  if (node.op_type == "Cast") return "cast";
  if (node.op_type.starts_with("Reorder") || node.op_type == "Transpose" || node.op_type == "Reshape") return "layout";
  if (node.op_type.starts_with("Memcpy") || node.op_type == "Identity") return "copy";
  if (node.op_type.ends_with("QuantizeLinear") || node.op_type.ends_with("DequantizeLinear")) return "quantise";
  return std::string(kOther);
}

class Comparison {
 public:
  Comparison(const Graph& before, const Graph& after)
      : before_(before),
        after_(after),
        producer_(makers_of(before)),
        value_(match_tensors(before, after)),
        live_(before.tensors.size(), false) {
    out_.nodes.resize(before.nodes.size());
    out_.kernels.resize(after.nodes.size());
  }

  GraphDiff run() {
    mark_live();
    fold();
    for (std::size_t kernel = 0; kernel < after_.nodes.size(); ++kernel) cover(kernel);
    settle();
    return std::move(out_);
  }

 private:
  std::optional<std::size_t>& value(TensorId id) { return value_[index_of(id)]; }

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
    const std::set<std::size_t> cancelled = cancelling_transposes(before_);
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
          const bool cancels_out = cancelled.contains(number) && after.op_type != "Transpose";
          if (is_no_operation(before_, node) || cancels_out) {
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
    for (std::size_t kernel = 0; kernel < out_.kernels.size(); ++kernel)
      if (out_.kernels[kernel].inserted == kOther) out_.kernels[kernel].part_of = split_node(kernel);
  }

  // The node that became several kernels, of which this one hands its result to another of them only.
  [[nodiscard]] std::optional<std::size_t> split_node(std::size_t kernel) const {
    const auto& results = after_.nodes[kernel].outputs;
    std::optional<std::size_t> reader;
    for (std::size_t other = 0; other < after_.nodes.size(); ++other)
      for (const TensorId id : after_.nodes[other].inputs) {
        if (!id.valid() || std::find(results.begin(), results.end(), id) == results.end()) continue;
        if (reader && *reader != other) return std::nullopt;
        reader = other;
      }
    if (!reader || out_.kernels[*reader].nodes.size() != 1) return std::nullopt;
    const std::size_t node = out_.kernels[*reader].nodes.front();
    return out_.nodes[node].fate == Fate::rewritten ? std::optional(node) : std::nullopt;
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
