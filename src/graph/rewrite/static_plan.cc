#include "graph/rewrite/static_plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "graph/rewrite/matrix_weights.h"

namespace aaco::graph::rewrite {
namespace {

constexpr std::array<std::string_view, 6> kMoving = {"MaxPool", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze"};
constexpr std::array<std::string_view, 4> kJoining = {"Add", "Concat", "AveragePool", "GlobalAveragePool"};

template <std::size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& operators) {
  return node.domain.empty() && std::find(operators.begin(), operators.end(), node.op_type) != operators.end();
}

bool is_zero(const Edit& edit, TensorId id) {
  const Initializer* constant = id.valid() ? edit.constant(id) : nullptr;
  float value = 1;
  if (constant == nullptr || constant->constant.data.size() != sizeof(value)) return false;
  std::memcpy(&value, constant->constant.data.data(), sizeof(value));
  return value == 0;
}

// Clamps to a range that starts at 0.
bool starts_at_zero(const Edit& edit, const Node& node) {
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.size() != 1) return false;
  if (node.op_type == "Relu") return true;
  return node.op_type == "Clip" && node.inputs.size() > 1 && is_zero(edit, node.inputs[1]);
}

bool is_convolution(const Edit& edit, const Node& node) {
  return node.op_type == "Conv" && node.domain.empty() && node.inputs.size() >= 2 && node.outputs.size() == 1 &&
         is_float_constant(edit, node.inputs[1]) &&
         (node.inputs.size() < 3 || !node.inputs[2].valid() || is_float_constant(edit, node.inputs[2]));
}

class StaticPlanner {
 public:
  StaticPlanner(const Edit& edit, const TensorLinks& links) : edit_(edit), links_(links) {}

  StaticPlan made() {
    find_sites();
    for (std::size_t at = 0; at < edit_.graph().nodes.size(); ++at) pass_on(at);
    return std::move(plan_);
  }

 private:
  void find_sites() {
    for (const MatrixProduct& product : find_matrix_products(edit_)) {
      if (product.bias.valid() && !is_float_constant(edit_, product.bias)) continue;
      add_site(product.node, product.transposed ? 0 : 1);
    }
    for (std::size_t at = 0; at < edit_.graph().nodes.size(); ++at)
      if (is_convolution(edit_, edit_.graph().nodes[at])) {
        add_site(at, 0);
        plan_.tensors.insert(end_of(at));
      }
    // A product's result stays float32 unless another site reads it: the runtime then skips its rounding.
    for (const StaticPlan::Site& site : plan_.sites)
      if (plan_.tensors.contains(activation_end(site.node))) end_of(site.node);
    std::sort(plan_.sites.begin(), plan_.sites.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  }
  void add_site(std::size_t node, std::size_t axis) {
    plan_.sites.push_back({node, axis});
    plan_.tensors.insert(edit_.graph().nodes[node].inputs[0]);
  }
  // The result of the node, after an activation function that its range implies.
  [[nodiscard]] TensorId activation_end(std::size_t at) const {
    const TensorId result = edit_.graph().nodes[at].outputs[0];
    const auto next = sole_reader(edit_, links_, result);
    return next && starts_at_zero(edit_, edit_.graph().nodes[*next]) ? edit_.graph().nodes[*next].outputs[0] : result;
  }
  TensorId end_of(std::size_t at) {
    const TensorId result = edit_.graph().nodes[at].outputs[0], end = activation_end(at);
    if (end != result) plan_.implied[links_.readers(result).front()] = at;
    return end;
  }
  // An operator all of whose operands are quantized passes that on.
  void pass_on(std::size_t at) {
    const Node& node = edit_.graph().nodes[at];
    const bool moves = is_one_of(node, kMoving), joins = is_one_of(node, kJoining);
    if ((!moves && !joins) || node.outputs.empty() || (node.outputs.size() > 1 && node.outputs[1].valid())) return;
    const std::size_t operands = moves || node.op_type.ends_with("Pool") ? 1 : node.inputs.size();
    for (std::size_t i = 0; i < operands; ++i)
      if (!node.inputs[i].valid() || !plan_.tensors.contains(node.inputs[i])) return;
    if (joins) {
      plan_.tensors.insert(end_of(at));
      return;
    }
    plan_.tensors.insert(node.outputs[0]);
    const auto from = plan_.same_range.find(node.inputs[0]);
    plan_.same_range[node.outputs[0]] = from == plan_.same_range.end() ? node.inputs[0] : from->second;
  }

  const Edit& edit_;
  const TensorLinks& links_;
  StaticPlan plan_;
};

}  // namespace

StaticPlan plan_static(const Edit& edit, const TensorLinks& links) { return StaticPlanner(edit, links).made(); }

}  // namespace aaco::graph::rewrite
