#include "analytics/compiler/tensor_match.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "graph/cost.h"

namespace aaco::analytics::compiler {
namespace {

using graph::Graph;
using graph::index_of;
using graph::Node;
using graph::TensorId;

constexpr int kMaxBehind = 6;  // nodes between an operator and the quantisation of its result

// Of a tensor that ONNX Runtime computes in another type than the model has.
std::string_view without_type(std::string_view name) {
  constexpr std::string_view kOtherType = "InsertedPrecisionFreeCast_";
  return name.starts_with(kOtherType) ? name.substr(kOtherType.size()) : name;
}

bool has_result(const Node& node) { return !node.outputs.empty() && node.outputs[0].valid(); }

class Matching {
 public:
  Matching(const Graph& before, const Graph& after)
      : before_(before),
        after_(after),
        producer_(makers_of(before)),
        readers_(before.tensors.size()),
        value_(after.tensors.size()) {
    for (std::size_t number = 0; number < before.nodes.size(); ++number)
      for (const TensorId id : before.nodes[number].inputs)
        if (id.valid()) readers_[index_of(id)].push_back(number);
    for (std::size_t tensor = 0; tensor < before.tensors.size(); ++tensor) by_name_[before.tensors[tensor].name] = tensor;
    for (const Node& node : before.nodes)
      if (!node.name.empty() && has_result(node)) by_node_[node.name] = index_of(node.outputs[0]);
  }

  std::vector<std::optional<std::size_t>> run() {
    for (std::size_t tensor = 0; tensor < after_.tensors.size(); ++tensor)
      if (const auto found = by_name_.find(without_type(after_.tensors[tensor].name)); found != by_name_.end())
        value_[tensor] = found->second;
    for (const Node& node : after_.nodes)
      if (has_result(node) && value(node.outputs[0]) && !moves(node)) made_.insert(*value(node.outputs[0]));
    for (const Node& node : after_.nodes)
      if (is_open(node)) set(node, named(node));
    do follow_moves();
    while (read_on());
    return std::move(value_);
  }

 private:
  std::optional<std::size_t>& value(TensorId id) { return value_[index_of(id)]; }
  // Whether it is not known yet what the kernel makes.
  bool is_open(const Node& node) { return has_result(node) && !value(node.outputs[0]); }
  [[nodiscard]] const Node* maker(std::size_t tensor) const {
    return producer_[tensor] ? &before_.nodes[*producer_[tensor]] : nullptr;
  }

  bool set(const Node& kernel, const std::optional<std::size_t>& anchor) {
    if (!anchor) return false;
    const std::size_t tensor = advance(kernel, *anchor);
    if (!moves(kernel) && !made_.insert(tensor).second) return false;  // another kernel makes it
    value(kernel.outputs[0]) = tensor;
    return true;
  }

  // The result that the kernel is named after.
  [[nodiscard]] std::optional<std::size_t> named(const Node& kernel) const {
    for (const std::string_view base : names_without_layout(kernel.name))
      for (const auto* names : {&by_name_, &by_node_})
        if (const auto found = names->find(without_type(base)); found != names->end()) return found->second;
    // A node that kept its name and operator makes what it made, under another name.
    if (const auto found = by_node_.find(without_token(kernel.name)); found != by_node_.end()) {
      const Node& was = *maker(found->second);
      if (was.op_type == plain_operator(kernel.op_type)) return found->second;
    }
    const std::string& result = after_.tensor(kernel.outputs[0]).name;
    const auto found = by_node_.find(without_token(result));
    return found == by_node_.end() ? std::nullopt : std::optional(found->second);
  }

  // From the result of the operator that a kernel is named after to the kernel's own.
  [[nodiscard]] std::size_t advance(const Node& kernel, std::size_t tensor) const {
    if (maker(tensor) == nullptr) return tensor;
    if (kernel.op_type.starts_with("QLinear") && maker(tensor)->op_type != "QuantizeLinear")
      return quantised(tensor).value_or(tensor);
    const std::string& made_by = maker(tensor)->op_type;
    // ONNX Runtime: a convolution with a fourth operand adds it, then applies its `activation`.
    const bool sums = kernel.op_type.ends_with("Conv") && kernel.inputs.size() > 3 && kernel.inputs[3].valid();
    if (sums && (made_by == "Conv" || made_by == "BatchNormalization")) tensor = only_reader(tensor, "Add").value_or(tensor);
    for (const graph::Attribute& one : kernel.attributes)
      if (const auto* activation = std::get_if<std::string>(&one.value); activation != nullptr && one.name == "activation")
        if (*activation != maker(tensor)->op_type) tensor = behind(tensor, *activation).value_or(tensor);
    return tensor;
  }

  // The result of the one node that reads the tensor, if it has this operator (any, if empty).
  [[nodiscard]] std::optional<std::size_t> only_reader(std::size_t tensor, std::string_view op_type) const {
    if (readers_[tensor].size() != 1) return std::nullopt;
    const Node& reader = before_.nodes[readers_[tensor].front()];
    if ((!op_type.empty() && reader.op_type != op_type) || !has_result(reader)) return std::nullopt;
    return index_of(reader.outputs[0]);
  }

  // The same behind nodes whose work is in the kernel's weights, or that cancel.
  [[nodiscard]] std::optional<std::size_t> behind(std::size_t tensor, std::string_view op_type) const {
    for (int steps = 0; steps < kMaxBehind; ++steps) {
      if (const auto found = only_reader(tensor, op_type)) return found;
      const auto next = only_reader(tensor, "");
      if (!next) return std::nullopt;
      const Node& node = *maker(*next);
      const bool in_weights = node.op_type == "BatchNormalization" || node.op_type == "Add" || node.op_type == "Mul";
      if (!in_weights && !moves(node)) return std::nullopt;
      tensor = *next;
    }
    return std::nullopt;
  }

  // What becomes of the tensor until it is quantised, element by element.
  [[nodiscard]] std::optional<std::size_t> quantised(std::size_t tensor) const {
    for (int steps = 0; steps < kMaxBehind; ++steps) {
      const auto next = only_reader(tensor, "");
      if (!next) return std::nullopt;
      const Node& node = *maker(*next);
      if (node.op_type == "QuantizeLinear") return next;
      if (graph::class_of(node) != graph::OperatorClass::elementwise) return std::nullopt;
      tensor = *next;
    }
    return std::nullopt;
  }

  void follow_moves() {
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

  // Finds kernels without a known result by what they read, in order: behind that, one node has the kernel's operator.
  bool read_on() {
    bool found = false;
    for (const Node& node : after_.nodes) {
      if (!is_open(node) || moves(node)) continue;
      found |= std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
        return id.valid() && value(id) && set(node, operator_behind(*value(id), plain_operator(node.op_type)));
      });
    }
    return found;
  }

  [[nodiscard]] std::optional<std::size_t> operator_behind(std::size_t tensor, std::string_view op_type) const {
    std::vector<std::size_t> open{tensor}, found;
    for (std::size_t at = 0; at < open.size(); ++at)
      for (const std::size_t number : readers_[open[at]]) {
        const Node& node = before_.nodes[number];
        if (!has_result(node)) continue;
        const std::size_t result = index_of(node.outputs[0]);
        if (node.op_type == op_type) {
          if (std::find(found.begin(), found.end(), result) == found.end()) found.push_back(result);
        } else if (moves(node) && !made_.contains(result)) {
          open.push_back(result);
        }
      }
    std::erase_if(found, [&](std::size_t result) { return made_.contains(result); });
    return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
  }

  const Graph& before_;
  const Graph& after_;
  std::vector<std::optional<std::size_t>> producer_;  // by tensor of the graph before
  std::vector<std::vector<std::size_t>> readers_;
  std::map<std::string_view, std::size_t> by_name_, by_node_;  // of the graph before: a tensor
  std::vector<std::optional<std::size_t>> value_;              // by tensor of the graph after
  std::set<std::size_t> made_;                                 // of the graph before: by kernels that do more than move it
};

}  // namespace

std::vector<std::optional<std::size_t>> makers_of(const Graph& graph) {
  std::vector<std::optional<std::size_t>> producer(graph.tensors.size());
  for (std::size_t number = 0; number < graph.nodes.size(); ++number)
    for (const TensorId id : graph.nodes[number].outputs)
      if (id.valid()) producer[index_of(id)] = number;
  return producer;
}

bool moves(const Node& node) {
  static constexpr std::string_view kMoves[] = {"ReorderInput",     "ReorderOutput", "Cast",           "Transpose", "Identity",
                                                "MemcpyFromHost",   "MemcpyToHost",  "QuantizeLinear", "Squeeze",   "Unsqueeze",
                                                "DequantizeLinear", "Reshape"};
  return std::find(std::begin(kMoves), std::end(kMoves), node.op_type) != std::end(kMoves) && !node.inputs.empty() &&
         node.inputs[0].valid() && has_result(node);
}

std::string_view plain_operator(std::string_view op_type) {
  for (const std::string_view prefix : {"Nhwc", "Fused", "QLinear"})
    if (op_type.size() > prefix.size() && op_type.starts_with(prefix)) op_type.remove_prefix(prefix.size());
  return op_type;
}

std::string_view without_token(std::string_view name) {
  constexpr std::string_view kToken = "_token_";
  const auto at = name.rfind(kToken);
  if (at == std::string_view::npos) return name;
  const std::string_view digits = name.substr(at + kToken.size());
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos ? name.substr(0, at) : name;
}

std::vector<std::string_view> names_without_layout(std::string_view kernel) {
  constexpr std::string_view kLayout = "_nchwc", kNorm = "_bn";
  kernel = without_token(kernel);
  if (!kernel.ends_with(kLayout)) return {};
  kernel.remove_suffix(kLayout.size());
  std::vector<std::string_view> names{kernel};
  if (kernel.ends_with(kNorm)) names.push_back(kernel.substr(0, kernel.size() - kNorm.size()));
  return names;
}

std::vector<std::optional<std::size_t>> match_tensors(const Graph& before, const Graph& after) {
  return Matching(before, after).run();
}

}  // namespace aaco::analytics::compiler
